"""Paths of a run against paths of a tree: what stays, wherever the program lay, is how they end."""

from __future__ import annotations

from typing import NamedTuple


class Ends(NamedTuple):
    complete: bool
    """All of the path in the tree is the end of the other."""
    common: int
    """How many parts the ends share."""


def path_parts(file: str) -> list[str]:
    """The parts of a path as any system writes it; none for what is no file (`<stdin>`, `<frozen importlib>`)."""
    if not file or file.startswith("<"):
        return []
    return [part for part in file.replace("\\", "/").split("/") if part not in ("", ".")]


def ends_alike(whole: str, path: str, parts: list[str]) -> Ends:
    """How much of the path in the tree (`whole` with its root's name) is the end of the other one."""
    common = 0
    for a, b in zip(reversed(whole.split("/")), reversed(parts), strict=False):
        if a != b:
            break
        common += 1
    return Ends(common >= len(path.split("/")), common)
