"""Who caught an exception in a loop that is left by success alone, and is in another go at the same.

`while True: try: return run(batch) except OutOfMemory: split()` comes to its next round by the handler only: of two
sides, the one that is in the body of the `try` came through it, and has made calls more for it; it has left none out.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from rankandfile.source.dependence.syntax import ancestors, spans
from rankandfile.source.lines.divergence import Side
from rankandfile.source.lines.found_line import FoundLine
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace, SourcePlaces

_Loop = ast.For | ast.AsyncFor | ast.While


def tried_again(places: SourcePlaces, found: FoundLine) -> FoundLine:
    """The handler that was found, with the one side that came through it into another go, if there is one."""
    handlers = [each for each in handlers_of(found.place) if each.lineno == found.line]
    tried = retried(found.place, handlers[0]) if handlers else None
    if tried is None or found.divergence is None:
        return found
    sides = (found.divergence.normal, found.divergence.culprit)
    again = [side for side in sides if is_inside(places, found.place.function, tried, side)]
    return replace(found, singled=again[0].members, tried_again=True) if len(again) == 1 else found


def handlers_of(place: SourcePlace) -> list[ast.ExceptHandler]:
    return [node for node in place.function.nodes if isinstance(node, ast.ExceptHandler)]


def retried(place: SourcePlace, handler: ast.ExceptHandler) -> ast.Try | None:
    """The `try` of the handler, if what it tries leaves the loop around it once that has gone well, and not else."""
    tried: ast.Try | None = None
    for outer in ancestors(place.module, handler):
        if outer is place.function.node:
            break
        if tried is None:
            tried = outer if isinstance(outer, ast.Try) else None
        elif isinstance(outer, _Loop):
            after = outer.body[outer.body.index(tried) + 1 :] if tried in outer.body else []
            leaves = isinstance([*tried.body, *tried.orelse, *after][-1], (ast.Return, ast.Break))
            stays = not isinstance(handler.body[-1], (ast.Return, ast.Break, ast.Raise))
            return tried if leaves and stays else None
    return None


def is_inside(places: SourcePlaces, function: Function, tried: ast.Try, side: Side) -> bool:
    stands = (place for frame in side.path if (place := places.find(frame)) is not None)
    return any(at.function is function and any(spans(s, at.line) for s in tried.body) for at in stands)
