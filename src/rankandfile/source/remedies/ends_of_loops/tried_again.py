"""How loops end: whether what an exception has ended is begun again, so that no loop in it is left by its own end
alone; and whether one goes on until something is so."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.index import index_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.remedies.needs import established
from rankandfile.source.remedies.place_to_mend import PlaceToMend, trains
from rankandfile.source.remedies.spelled_out import spelled_out

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
        return called_name(last.value) in ("exit", "_exit", "abort", "quit")
    return isinstance(last, (ast.Raise, ast.Break, ast.Return))


def goes_on_for_its_answer(place: PlaceToMend, node: ast.While) -> bool:
    """The loop goes on until something is so, by what it works out or asks others for: it counts no rounds, takes
    nothing that could be used up, is no training that may end early, and no flag that is put up from outside."""
    test = spelled_out(place, node.test)
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    asks = [part for part in ast.walk(test) if isinstance(part, ast.Call)]
    if trains(place.events(node.body)) or not (asks or isinstance(test, ast.Compare)):
        return False
    counted = {ast.unparse(s.target) for s in ast.walk(node) if isinstance(s, ast.AugAssign)}
    counted |= {
        ast.unparse(s.targets[0])
        for s in ast.walk(node)
        if isinstance(s, ast.Assign)
        and isinstance(s.value, ast.BinOp)
        and ast.unparse(s.targets[0]) in map(ast.unparse, (s.value.left, s.value.right))
    }
    counts = any(ast.unparse(e) in counted for e in ast.walk(test) if isinstance(e, ast.expr))
    needs = [need for truth in (True, False) for need in established(test, truth)]
    return not counts and not needs
