"""What is behind an awaited value: the calls of coroutines that a name, a list of tasks or a `gather` stands for.

In: an expression and its function. Out: each call that it awaits, with the function that it stands in, or another
expression of which nothing is known. Nothing comes out of what ends by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.assignments import Definition
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.objects.called_later import targets_of
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import EACH, loop_of
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import binding_scope

from .limits import ends_by_itself

_ONE = {"create_task", "ensure_future", "shield", "wait_for"}
"""They await their first argument."""
_MANY = {"gather", "wait", "as_completed"}
"""They await what they are given, or all that it holds."""
_HOLD = {"list", "set", "tuple"}
_DEEPEST = 12

Awaited = tuple[Function, ast.expr]


def awaited(
    objects: Objects, function: Function, e: ast.expr, many: bool = False, depth: int = 0
) -> Iterator[Awaited]:
    """Behind the value itself or, with `many`, behind each of those that it holds."""
    parts = _parts(objects, function, e, many) if depth < _DEEPEST else None
    if parts is None:
        yield function, e
        return
    for inside, part, holds in parts:
        yield from awaited(objects, inside, part, holds, depth + 1)


def _parts(
    objects: Objects, function: Function, e: ast.expr, many: bool
) -> list[tuple[Function, ast.expr, bool]] | None:
    """What the expression stands for, each with whether that holds many; None where it is what is awaited."""
    match e:
        case ast.Starred():
            return [(function, e.value, True)]
        case ast.Call():
            return _of_call(objects, function, e, many)
        case ast.IfExp():
            return [(function, e.body, many), (function, e.orelse, many)]
        case ast.BoolOp():
            return [(function, value, many) for value in e.values]
        case ast.NamedExpr():
            return [(function, e.value, many)]
        case ast.BinOp() if many:
            return [(function, e.left, True), (function, e.right, True)]
        case ast.List() | ast.Tuple() | ast.Set() if many:
            return [(function, each, False) for each in e.elts]
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() if many:
            return [(function, e.elt, False)]
        case ast.Name() if not many and (loop := loop_of(function.module, e)) is not None:
            return [(function, loop[0], True)] if loop[1] == (EACH,) else None
        case ast.Name() | ast.Attribute():
            return _given(objects, function, e, many) or None
    return None


def _of_call(
    objects: Objects, function: Function, call: ast.Call, many: bool
) -> list[tuple[Function, ast.expr, bool]] | None:
    name = called_name(call)
    if targets_of(objects, Site(function, call)):
        return None
    if ends_by_itself(objects, function, call):
        return []
    if not call.args or (many and name not in _MANY | _HOLD):
        return None
    if name in _ONE:
        return [(function, call.args[0], False)]
    if name in _MANY or (many and name in _HOLD):
        return [(function, each, name != "gather") for each in call.args]
    return None


def _given(
    objects: Objects, function: Function, e: ast.Name | ast.Attribute, many: bool
) -> list[tuple[Function, ast.expr, bool]]:
    """What the name, or the attribute of an object of the program, was given; nothing, where not all is known."""
    found: list[tuple[Function, Definition]] = []
    if isinstance(e, ast.Name):
        scope = binding_scope(function, e.id)
        found = [(scope, d) for d in reaching(scope).everywhere(e.id)] if scope is not None else []
    else:
        for cls in objects.classes(e.value, Frame(function)):
            found.extend(objects.stores(cls, e.attr))
    said = [(inside, d) for inside, d in found if not _nothing(d)]
    if not all(d.how in ("assign", "mutate", "remove", "reorder") for _, d in said):
        return []
    return [
        (inside, d.value, _holds(d, many))
        for inside, d in said
        if d.how in ("assign", "mutate") and d.value is not None
    ]


def _holds(d: Definition, many: bool) -> bool:
    if d.how == "mutate":
        return isinstance(d.site, ast.Call) and called_name(d.site) in ("extend", "update")
    return d.path == (EACH,) if not many else not d.path


def _nothing(d: Definition) -> bool:
    """An empty list, or None, until there is something."""
    value = d.value
    empty = isinstance(value, (ast.List, ast.Tuple)) and not value.elts
    empty = empty or (isinstance(value, ast.Call) and not value.args and called_name(value) in _HOLD)
    return d.how == "assign" and (empty or (isinstance(value, ast.Constant) and value.value is None))
