"""A group that is looked for and not found is None, and None is the default group: where it comes out as None.

`groups[name]` leads to the `__getitem__` of a class, that to `self._mine.get(name)`: a rank that has no such group gets
None there, and a collective that is handed None goes over all ranks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence import objects_of
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.names import method, resolve
from rankandfile.source.program.scopes import own_nodes

_FURTHEST = 4


def none_from(program: Program, function: Function, value: ast.expr) -> tuple[Function, ast.expr] | None:
    """The expression that gives None on a rank without the group, and the function that it stands in."""
    ways = [(function, value)]
    for _ in range(_FURTHEST):
        for inside, expression in ways:
            if _may_be_none(expression):
                return inside, expression
        ways = [further for way in ways for further in _given_by(program, *way)]
    return None


def _may_be_none(e: ast.expr) -> bool:
    match e:
        case ast.Call(func=ast.Attribute(attr="get"), args=[_], keywords=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="get"), args=[_, ast.Constant(value=None)]):
            return True
        case ast.IfExp(body=one, orelse=other):
            return any(isinstance(arm, ast.Constant) and arm.value is None for arm in (one, other))
    return False


def _given_by(program: Program, function: Function, e: ast.expr) -> Iterator[tuple[Function, ast.expr]]:
    """What the functions return that the expression calls, by a name, on an object, or with an index."""
    called: list[Function] = []
    if isinstance(e, ast.Call):
        target = resolve(function, e.func)
        called = [target] if isinstance(target, Function) else []
    at = e.func if isinstance(e, ast.Call) else e
    if not called and isinstance(at, (ast.Attribute, ast.Subscript)):
        name = at.attr if isinstance(at, ast.Attribute) else "__getitem__"
        classes = objects_of(program).classes(at.value, Frame(function))
        called = [found for cls in classes if (found := method(cls, name)) is not None]
    for each in called:
        for node in own_nodes(each):
            if isinstance(node, ast.Return) and node.value is not None:
                yield each, node.value
