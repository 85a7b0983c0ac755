"""The source tree that the simulated jobs run, and where in it things stand.

Lines carry markers (`#@name`) in the stored text. Frames, and the places a truth names, are looked up by marker,
so a stack always points at a line that says what the stack claims; the tree that an incident keeps has the
markers removed and every line where it was. It is a correct program, but for the bugs that the job's own faults need.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rankandfile.lab.sim.bugs import BUGS

_TREE = Path(__file__).parent / "sources" / "trainkit"
_MARKER = re.compile(r"\s*#@(\w+)\s*$")
RUN_FROM = "/workspace/trainkit"


class Place(NamedTuple):
    """A marked line."""

    file: str
    line: int
    function: str
    text: str


@cache
def texts(faults: tuple[str, ...] = ()) -> dict[str, str]:
    """The files as an incident shows them: no markers, and the bugs of these faults, given by their places."""
    bugs = {marker: line for fault in faults for marker, line in BUGS.get(fault, {}).items()}
    return {
        path.name.removesuffix(".txt"): "\n".join(_shown(line, bugs) for line in path.read_text().split("\n"))
        for path in sorted(_TREE.glob("*.py.txt"))
    }


def _shown(line: str, bugs: Mapping[str, str]) -> str:
    marker = _MARKER.search(line)
    if marker is None or marker[1] not in bugs:
        return _MARKER.sub("", line)
    return line[: len(line) - len(line.lstrip())] + bugs[marker[1]]


def place_of_fault(name: str) -> Place:
    """Where the ranks part, with the line as the faulty tree has it."""
    place = places()[name]
    return place._replace(text=BUGS.get(name, {}).get(name, place.text))


@cache
def places() -> dict[str, Place]:
    """Every marker of the tree; a marker that occurs twice is a mistake of the tree."""
    found: dict[str, Place] = {}
    for path in sorted(_TREE.glob("*.py.txt")):
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


def write_tree(target: Path, faults: tuple[str, ...]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name, text in texts(faults).items():
        (target / name).write_text(text)
