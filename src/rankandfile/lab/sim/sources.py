"""The source tree that the simulated jobs run, and where in it things stand.

Lines carry markers (`#@name`) in the stored text. Frames, and the places a truth names, are looked up by marker,
so a stack always points at a line that says what the stack claims; the tree that an incident keeps has the
markers removed and every line where it was.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

_TREES = Path(__file__).parent / "sources"
_MARKER = re.compile(r"\s*#@(\w+)\s*$")
RUN_FROM = "/workspace/trainkit"


class Place(NamedTuple):
    """A marked line."""

    file: str
    line: int
    function: str
    text: str


@cache
def texts(tree: str = "trainkit") -> dict[str, str]:
    """The files as an incident shows them: no markers."""
    return {
        path.name.removesuffix(".txt"): "\n".join(
            _MARKER.sub("", line) for line in path.read_text().split("\n")
        )
        for path in sorted((_TREES / tree).glob("*.py.txt"))
    }


@cache
def places(tree: str = "trainkit") -> dict[str, Place]:
    """Every marker of the tree; a marker that occurs twice is a mistake of the tree."""
    found: dict[str, Place] = {}
    for path in sorted((_TREES / tree).glob("*.py.txt")):
        text = path.read_text()
        functions = _functions(text)
        for number, line in enumerate(text.split("\n"), 1):
            match = _MARKER.search(line)
            if match:
                if match[1] in found:
                    raise ValueError(f"marker {match[1]} is on two lines")
                name = functions.get(number, "<module>")
                code = _MARKER.sub("", line).strip()
                found[match[1]] = Place(path.name.removesuffix(".txt"), number, name, code)
    return found


def _functions(text: str) -> dict[int, str]:
    """Line -> name of the innermost function around it."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    spans.sort(key=lambda span: span[0])
    return {line: name for first, last, name in spans for line in range(first, last + 1)}


def write_tree(target: Path, tree: str = "trainkit") -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name, text in texts(tree).items():
        (target / name).write_text(text)
