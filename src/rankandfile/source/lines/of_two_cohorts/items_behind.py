"""Loops from whose items a value was taken: in the function itself, or in one further out that handed it over."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.lines.arguments import assigned, from_caller
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.found_line import Search
from rankandfile.source.lines.loop_order import Going, loops_around
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.places import SourcePlace

_FURTHEST, _MOST = 5, 24
_BY_VALUE = {"heapq.heappop", "heapq.heapreplace", "heapq.heappushpop", "builtins.min", "builtins.max"}


def loop_of(place: SourcePlace, value: ast.expr) -> Going | None:
    """The loop around the line from whose items the value is taken: what comes first there decides."""
    return next((loop for loop in loops_around(place) if _names(value) & _names(loop.target)), None)


def loops_behind(
    search: Search, path: CallPath, place: SourcePlace, values: list[ast.expr]
) -> Iterator[tuple[SourcePlace, Going]]:
    """Loops by whose items a choice was made: `HANDLERS[kind](x)`, where `kind` was handed over; the nearest first.

    `place` is that of the path's innermost frame.
    """
    for where, value in _made_of(search, path, place, values):
        if (loop := loop_of(where, value)) is not None:
            yield where, loop


def least_behind(
    search: Search, path: CallPath, place: SourcePlace, values: list[ast.expr]
) -> Iterator[tuple[SourcePlace, ast.Call]]:
    """Where a choice was made by what was the least, or the most, of several: `job = heappop(waiting)`."""
    for where, value in _made_of(search, path, place, values):
        if isinstance(value, ast.Call):
            target = resolve(where.function, value.func)
            if isinstance(target, External) and target.dotted in _BY_VALUE:
                yield where, value


def _made_of(
    search: Search, path: CallPath, place: SourcePlace, values: list[ast.expr]
) -> Iterator[tuple[SourcePlace, ast.expr]]:
    """The values, and those that they were made of, in the function itself or in one further out."""
    open_values = [(place, len(path) - 1, value) for value in values]
    for _ in range(_FURTHEST):
        further: list[tuple[SourcePlace, int, ast.expr]] = []
        for where, depth, value in open_values:
            yield where, value
            for name in (node for node in ast.walk(value) if isinstance(node, ast.Name)):
                made = assigned(where.function, name, where.line) or assigned(
                    where.function, name, where.line, unpacked=True
                )
                if made is not None:
                    further.append((where, depth, made.value))
                    continue
                given = from_caller(search.places, path, depth, name, where.function)
                outer = search.places.find(path[depth - 1]) if given is not None else None
                if given is not None and outer is not None and outer.known:
                    further.append((outer, depth - 1, given))
        open_values = further[:_MOST]


def _names(value: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
