"""Whether a decision ends a loop by how far this rank's own work has come: what each round works out from the last one
is near enough to what it is to be, `if err < tol: break`, `while not converged`.

The first that is near enough does not speak for the others. Who counts, looks at a clock or at what is left works out
nothing from round to round; and a value that has grown may as well be a reason to give up."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from rankandfile.source.remedies.place_to_mend import PlaceToMend, trains
from rankandfile.source.remedies.reach import called
from rankandfile.source.remedies.spelled_out import answers_of, spelled_out

Ends: TypeAlias = Literal["near", "grown", ""]
Loop: TypeAlias = "ast.For | ast.AsyncFor | ast.While"

_BELOW, _ABOVE = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)
_CLOSE = {"allclose", "isclose"}


def ends_by_its_work(place: PlaceToMend, node: ast.If | ast.While, loop: Loop | None) -> Ends:
    """`near`: the loop is left once a value has come down to a bound; `grown`: once it is above one."""
    if loop is None or trains(place.events(loop.body)):
        return ""
    leaves_if = isinstance(node, ast.If)
    test = spelled_out(place, node.test)
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, leaves_if = test.operand, not leaves_if
    worked_out = _worked_out(place, loop)

    def moving(e: ast.expr) -> bool:
        return bool(_roots(e) & worked_out) or _moves(place, e)

    found = {_compared(part, moving) for part in _asks(place, test, loop)} - {None}
    if len(found) != 1:
        return ""
    return "near" if (found == {"below"}) is leaves_if else "grown"


def _asks(place: PlaceToMend, test: ast.expr, loop: Loop) -> Iterator[ast.expr]:
    """The comparisons in a test; for a flag, in what gives it its value within the loop; for a function that does
    nothing but answer, in its answer."""
    asked = [test]
    if isinstance(test, (ast.Name, ast.Attribute)):
        values = [value for target, value in _given(loop) if target == ast.unparse(test)]
        asked = values if len(values) == 1 else []
    for part in (part for e in asked for part in ast.walk(e)):
        if isinstance(part, (ast.Compare, ast.Call)):
            yield part
        if isinstance(part, ast.Call):
            yield from (
                p
                for answer in answers_of(place, part)
                for p in ast.walk(answer)
                if isinstance(p, ast.Compare)
            )


def _compared(part: ast.expr, moving: Callable[[ast.expr], bool]) -> Literal["below", "above"] | None:
    match part:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _CLOSE:
            return "below" if moving(part) else None
        case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, (*_BELOW, *_ABOVE)):
            mine, other = moving(left), moving(right)
            if mine is other:
                return None
            return "below" if isinstance(op, _BELOW) is mine else "above"
    return None


def _worked_out(place: PlaceToMend, loop: Loop) -> set[str]:
    """Names and attributes that a round gives a value which it works out from what an earlier round left."""
    given = list(_given(loop))
    found = {target for target, value in given if _reaches(target, value, given) or _moves(place, value)}
    while True:
        more = {target for target, value in given if _roots(value) & found} - found
        if not more:
            return found
        found |= more


def _reaches(target: str, value: ast.expr, given: list[tuple[str, ast.expr]]) -> bool:
    """The value is made, in one step or several, from what the name itself held."""
    queue, seen = [value], set[str]()
    while queue:
        roots = _roots(queue.pop())
        if target in roots:
            return True
        queue += [v for t, v in given if t in roots - seen]
        seen |= roots
    return False


def _moves(place: PlaceToMend, value: ast.expr) -> bool:
    """It is asked of a function of the program that works out what it keeps from what it has kept."""
    if not any(isinstance(part, ast.Call) for part in ast.walk(value)):
        return False
    for one in called(place.code, place.module, value):
        given = list(_given(one.node))
        if any("." in target and _reaches(target, made, given) for target, made in given):
            return True
    return False


def _given(body: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What assignments give to which name or attribute; of what is added up, what is added: a sum of what does not
    look at it only counts."""
    for s in ast.walk(body):
        if isinstance(s, ast.Assign):
            for target in s.targets:
                parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                yield from ((ast.unparse(part), _added(part, s.value)) for part in parts)
        elif isinstance(s, (ast.NamedExpr, ast.AugAssign)) or (isinstance(s, ast.AnnAssign) and s.value):
            assert s.value is not None
            yield ast.unparse(s.target), _added(s.target, s.value)


def _added(target: ast.expr, value: ast.expr) -> ast.expr:
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
        if ast.unparse(value.left) == ast.unparse(target):
            return value.right
        if ast.unparse(value.right) == ast.unparse(target):
            return value.left
    return value


def _roots(e: ast.expr) -> set[str]:
    """The names and attributes that an expression reads."""
    return {ast.unparse(part) for part in ast.walk(e) if isinstance(part, (ast.Name, ast.Attribute))}
