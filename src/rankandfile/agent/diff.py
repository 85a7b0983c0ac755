"""A unified diff against the source: whether it fits, and the files as it leaves them. Nothing is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .bench import Bench

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class Misfit(ValueError):
    """The diff does not fit the source; the text says where."""


def changed(bench: Bench, diff: str) -> dict[str, str]:
    """Path in the tree -> its text with the change. Raises `Misfit`; the result of each must be Python."""
    found: dict[str, str] = {}
    for name, hunks in _files(diff.replace("\r\n", "\n").splitlines()):
        path = bench.source_path(name)
        text = bench.tree.read(path) if bench.tree is not None and path is not None else None
        if path is None or text is None or path in found:
            raise Misfit(f"the source has no file {name[:200]} that it could change")
        found[path] = _applied(name, text, hunks)
        try:
            ast.parse(found[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Misfit(f"{name} would not be Python: {error}") from error
    if not found:
        raise Misfit("it is no unified diff: --- a/FILE, +++ b/FILE, @@ -LINE,COUNT +LINE,COUNT @@")
    return found


def _files(lines: list[str]) -> Iterator[tuple[str, list[tuple[int, list[str]]]]]:
    name, hunks, left = "", list[tuple[int, list[str]]](), [0, 0]
    for number, line in enumerate(lines):
        if any(left) and line[:1] in (" ", "-", "+", ""):
            hunks[-1][1].append(line or " ")
            left[0] -= line[:1] != "+"
            left[1] -= line[:1] != "-"
        elif line.startswith("--- ") and "".join(lines[number + 1 : number + 2]).startswith("+++ "):
            if name and hunks:
                yield name, hunks
            name, hunks = line[4:].split("\t")[0].strip().removeprefix("a/"), []
        elif (match := _HUNK.match(line)) and name:
            hunks.append((int(match[1]), []))
            left = [int(match[2] or 1), int(match[3] or 1)]
    if name and hunks:
        if any(left):
            raise Misfit(f"{name}: the last part has fewer lines than it says")
        yield name, hunks


def _applied(name: str, text: str, hunks: list[tuple[int, list[str]]]) -> str:
    old = text.split("\n")
    new: list[str] = []
    at = 0
    for first, lines in hunks:
        takes = any(line[:1] != "+" for line in lines)
        start = first - 1 if takes else first
        if not at <= start <= len(old):
            raise Misfit(f"{name} has no line {first} for the diff")
        new += old[at:start]
        at = start
        for line in lines:
            if line[:1] == "+":
                new.append(line[1:])
                continue
            if at >= len(old) or old[at].rstrip() != line[1:].rstrip():
                raise Misfit(f"the diff does not fit: line {at + 1} of {name} reads otherwise")
            if line[:1] == " ":
                new.append(old[at])
            at += 1
    return "\n".join([*new, *old[at:]])
