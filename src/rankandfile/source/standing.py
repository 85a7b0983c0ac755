"""Where a rank stands that does not come: the line it is held at, and the condition that keeps it there."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .place import Place, Places
from .ways import Way, Ways

_SLEEPS = {"sleep", "wait", "wait_for"}


@dataclass(frozen=True)
class Standing:
    place: Place
    line: int
    """The line to look at: of the condition, if one keeps the rank there."""
    condition: str | None = None


def innermost(places: Places, way: Way) -> Place | None:
    """The innermost frame of the way whose source the tree has."""
    for frame in reversed(way):
        place = places.find(frame)
        if place is not None:
            return place if place.known else None
    return None


def standing(places: Places, ways: Ways, rank: int) -> Standing | None:
    """Where the rank was when someone looked; None if nobody did, or it was in nobody's source."""
    place = innermost(places, ways.now(rank))
    if place is None:
        return None
    worker = _held_worker(places, ways, rank) if _takes_from_loader(place) else None
    return _polling(worker or place)


def _polling(place: Place) -> Standing:
    """A pause in a `while` is not what holds the rank: the test of the loop is."""
    for node in sorted(_around(place), key=lambda node: -node.lineno):
        if isinstance(node, ast.While) and not isinstance(node.test, ast.Constant) and _pauses(place):
            return Standing(place, node.lineno, place.module.lines[node.lineno - 1].strip())
    return Standing(place, place.line)


def _around(place: Place) -> list[ast.stmt]:
    return [
        node
        for node in ast.walk(place.function.node)
        if isinstance(node, ast.stmt) and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]


def _pauses(place: Place) -> bool:
    """The line does nothing but let time pass."""
    for node in ast.walk(place.function.node):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno == place.line:
            called = node.value.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            return name in _SLEEPS
    # The test of the loop itself is being worked out.
    return any(
        isinstance(n, ast.While) and n.test.lineno <= place.line <= (n.test.end_lineno or 0)
        for n in _around(place)
    )


def _takes_from_loader(place: Place) -> bool:
    """The line takes the next item of something: what holds it may be in the process that makes the items."""
    return any(
        isinstance(node, (ast.For, ast.AsyncFor)) and node.lineno <= place.line <= (node.iter.end_lineno or 0)
        for node in _around(place)
    )


def _held_worker(places: Places, ways: Ways, rank: int) -> Place | None:
    """Where a data-loading process of this rank is, if one is in the program's own source."""
    found = {place for way in ways.workers(rank) if (place := innermost(places, way)) is not None}
    lines = {(place.path, place.line): place for place in found}
    return next(iter(lines.values())) if len(lines) == 1 else None
