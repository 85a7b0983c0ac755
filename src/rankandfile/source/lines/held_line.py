"""Where a rank stands that does not come: the line it is held at, and the condition that keeps it there."""

from __future__ import annotations

import ast
from typing import TypeGuard

from msgspec import Struct

from rankandfile.source.program.places import SourcePlace, SourcePlaces

from .call_paths import CallPath, CallPaths

_SLEEPS = {"sleep", "wait", "wait_for"}


class Standing(Struct, frozen=True):
    place: SourcePlace
    line: int
    """The line to look at: of the condition, if one keeps the rank there."""
    condition: str | None = None


def innermost(places: SourcePlaces, path: CallPath) -> SourcePlace | None:
    """The innermost frame of the path whose source the tree has."""
    for frame in reversed(path):
        place = places.find(frame)
        if place is not None:
            return place if place.known else None
    return None


def standing(places: SourcePlaces, paths: CallPaths, rank: int) -> Standing | None:
    """Where the rank was when someone looked; None if nobody did, or it was in nobody's source."""
    place = innermost(places, paths.now(rank))
    if place is None:
        return None
    if paths.waits_for_worker(rank):
        # The line in the program is not where it is held: that is in a process that makes the next item.
        worker = _held_worker(places, paths, rank)
        return _polling(worker) if worker is not None else None
    return _polling(place)


def _polling(place: SourcePlace) -> Standing:
    """A pause in a `while` is not what holds the rank: the test of the loop is."""
    for node in sorted(around(place), key=lambda node: -node.lineno):
        if ended_from_outside(node) and _pauses(node, place):
            return Standing(place, node.lineno, place.module.line_at(node.lineno))
    return Standing(place, place.line)


def ended_from_outside(node: ast.stmt) -> TypeGuard[ast.While]:
    """A loop that something it does not count itself has to end."""
    return isinstance(node, ast.While) and not isinstance(node.test, ast.Constant) and not ends_itself(node)


def ends_itself(loop: ast.While) -> bool:
    """The loop changes what its test asks for; else what ends it must come from outside."""
    tested = {ast.dump(node) for node in ast.walk(loop.test) if isinstance(node, (ast.Name, ast.Attribute))}
    changed = {
        ast.dump(target).replace("Store()", "Load()")
        for node in ast.walk(loop)
        if isinstance(node, (ast.Assign, ast.AugAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    return bool(tested & changed)


def around(place: SourcePlace) -> list[ast.stmt]:
    return [
        node
        for node in place.function.nodes
        if isinstance(node, ast.stmt) and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]


def _pauses(loop: ast.While, place: SourcePlace) -> bool:
    """The line does nothing but let time pass, or works out whether the loop goes on.

    A wait without a limit among other things of a loop may itself be what never ends (the lock of a process that is
    gone); alone in its loop it is that of a condition variable, whose test is the loop's.
    """
    if loop.test.lineno <= place.line <= (loop.test.end_lineno or loop.test.lineno):
        return True
    for node in ast.walk(loop):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno == place.line:
            called = node.value.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            limited = bool(node.value.args or node.value.keywords)
            return name in _SLEEPS and (limited or loop.body == [node])
    return False


def _held_worker(places: SourcePlaces, paths: CallPaths, rank: int) -> SourcePlace | None:
    """Where a data-loading process of this rank is, if one is in the program's own source."""
    found = {place for path in paths.workers(rank) if (place := innermost(places, path)) is not None}
    lines = {(place.path, place.line): place for place in found}
    return next(iter(lines.values())) if len(lines) == 1 else None
