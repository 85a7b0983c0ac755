"""Whether what an exception has ended is begun again: then no loop in it is left by its own end alone."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.index import index_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.program.modules import Function

from .place_to_mend import PlaceToMend

_MOST_CALLERS = 3


def tried_again(place: PlaceToMend) -> tuple[str, int] | None:
    """File and line of a handler, around the place or around a call of its function, behind which a loop goes on."""
    objects = Objects(index_of(place.code.program))
    return _around(objects, place.statement(), place.in_program, _MOST_CALLERS)


def _around(objects: Objects, node: ast.AST, function: Function, depth: int) -> tuple[str, int] | None:
    below, caught = node, None
    for outer in ancestors(function.module, node):
        if outer is function.node:
            break
        if isinstance(outer, ast.Try) and any(below is s for s in outer.body):
            caught = caught or next((h for h in outer.handlers if not _raises(h)), None)
        elif isinstance(outer, (ast.For, ast.AsyncFor, ast.While)) and caught is not None:
            return function.module.path, caught.lineno
        below = outer
    if isinstance(function.node, ast.Module) or depth == 0:
        return None
    sites = [site for site, _ in objects.callers(function)]
    found = (_around(objects, site.call, site.function, depth - 1) for site in sites)
    return next((one for one in found if one is not None), None)


def _raises(handler: ast.ExceptHandler) -> bool:
    """It lets no exception end here: its last statement raises, or leaves the process."""
    last = handler.body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        name = getattr(last.value.func, "attr", "") or getattr(last.value.func, "id", "")
        return name in ("exit", "_exit", "abort", "quit")
    return isinstance(last, (ast.Raise, ast.Break, ast.Return))
