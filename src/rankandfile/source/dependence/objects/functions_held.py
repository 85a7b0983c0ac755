"""Functions that a variable, a parameter or an attribute holds: `self.read(engine)`, as the constructor was given it.

In: the expression that is called. Out: the functions that it may be; nothing where one of them is not to be seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankandfile.source.dependence.callers import callers_of
from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import method, resolve
from rankandfile.source.program.scopes import binding_scope

if TYPE_CHECKING:
    from .of_expressions import Objects

_MOST, _FURTHEST = 6, 4


def functions_held(objects: Objects, function: Function, e: ast.expr) -> list[Function]:
    found: dict[Function, None] = {}
    for one in _held(objects, function, e, _FURTHEST):
        if one is None or len(found) > _MOST:
            return []
        found.setdefault(one)
    return list(found)


def _held(objects: Objects, inside: Function, e: ast.expr, left: int) -> Iterator[Function | None]:
    """None: something that is not known."""
    target = inside.module.by_node.get(e) or resolve(inside, e)
    if isinstance(target, Function):
        yield target
    elif left == 0:
        yield None
    elif isinstance(e, ast.Name):
        yield from _of_name(objects, inside, e.id, left)
    elif isinstance(e, ast.Attribute):
        yield from _of_attribute(objects, inside, e, left)
    elif not (isinstance(e, ast.Constant) and e.value is None):
        yield None


def _of_attribute(
    objects: Objects, inside: Function, e: ast.Attribute, left: int
) -> Iterator[Function | None]:
    known = False
    for cls in objects.classes(e.value, Frame(inside)):
        bound = method(cls, e.attr)
        if bound is not None:
            known = True
            yield bound
        for where, stored in objects.stores(cls, e.attr):
            known = True
            if stored.how != "assign" or stored.value is None or stored.path:
                yield None
            else:
                yield from _held(objects, where, stored.value, left - 1)
    if not known:
        yield None


def _of_name(objects: Objects, inside: Function, name: str, left: int) -> Iterator[Function | None]:
    scope = binding_scope(inside, name)
    if scope is None:
        yield None
        return
    if name not in scope.parameters:
        given = reaching(scope).everywhere(name)
        for d in given:
            known = d.how == "assign" and d.value is not None and not d.path
            yield from _held(objects, scope, d.value, left - 1) if known and d.value is not None else [None]
        if not given:
            yield None
        return
    sites = callers_of(objects, scope)
    for site, bound in sites:
        handed = (called(scope, site.call, Frame(site.function), bound).given or {}).get(name)
        default = scope.defaults.get(name)
        if handed is not None and not handed.path:
            yield from _held(objects, handed.frame.function, handed.value, left - 1)
        elif default is not None and scope.parent is not None:
            yield from _held(objects, scope.parent, default, left - 1)
        else:
            yield None
    if not sites:
        yield None
