"""Whether a function's callers learn from what it returns that a rank had nothing.

`if not answers: return None` keeps a rank out of a call, and tells its caller, who asks `if gains is not None:` before
it does anything with the answers. Made to take part with nothing, the rank returns something else, and its caller goes
on to work on answers that are not there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .place_to_mend import PlaceToMend


def told_by_return(place: PlaceToMend, node: ast.If) -> bool:
    """The branch returns None, the function something else at its end, and some caller asks which it was."""
    last = node.body[-1]
    if not isinstance(last, ast.Return) or not _is_none(last.value):
        return False
    returns = [each for each in own_nodes(place.in_program) if isinstance(each, ast.Return)]
    if all(_is_none(each.value) for each in returns):
        return False
    return any(_asks(caller, call) for caller, call in place.answers.callers(place.in_program))


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _asks(caller: Function, call: ast.Call) -> bool:
    """Whether a test of the caller asks for the call, or for the variable that it is assigned to, as there or not."""
    names: set[str] = set()
    for outer in ancestors(caller.module, call):
        if isinstance(outer, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            targets = outer.targets if isinstance(outer, ast.Assign) else [outer.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
        if isinstance(outer, ast.stmt):
            break
    tests = [each.test for each in own_nodes(caller) if isinstance(each, (ast.If, ast.IfExp, ast.While))]
    asked = [part for test in tests for part in _there_or_not(test)]
    return any(part is call or (isinstance(part, ast.Name) and part.id in names) for part in asked)


def _there_or_not(test: ast.expr) -> Iterator[ast.expr]:
    """What a test asks the truth of, or whether it is None."""
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _there_or_not(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _there_or_not(operand)
        case ast.NamedExpr(value=value):
            yield from _there_or_not(value)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            yield from _there_or_not(left)
        case ast.Name() | ast.Call():
            yield test
