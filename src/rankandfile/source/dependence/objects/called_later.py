"""Functions that are handed over to be called later: listeners, hooks, callbacks.

`scheduler.on_empty(self.rest)` calls nothing; `on_empty` keeps it in a list, and where the list is gone through, `rest`
is called. In: a function. Out: those calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.index import MOST_SITES, Site
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, method, resolve
from rankandfile.source.program.scopes import own_nodes

if TYPE_CHECKING:
    from .of_expressions import Objects

_KEEPS = {"append", "add", "insert", "appendleft", "setdefault"}


def called_later(objects: Objects, function: Function) -> Iterator[Site]:
    """Where the function is called as what somebody was handed."""
    for site, given in islice(objects.index.handed_over.get(function.name, ()), MOST_SITES):
        if not _is(objects, site.function, given, function):
            continue
        for target in targets_of(objects, site):
            inside = called(target, site.call, Frame(site.function), bound=target.owner is not None)
            names = {name for name, argument in (inside.given or {}).items() if argument.value is given}
            for attribute in _kept_in(target, names):
                yield from (s for s in objects.index.calls_of_variables if _calls_kept(s, attribute))


def _is(objects: Objects, inside: Function, given: ast.expr, function: Function) -> bool:
    if resolve(inside, given) is function:
        return True
    if not isinstance(given, ast.Attribute) or function.owner is None:
        return False
    classes = objects.classes(given.value, Frame(inside))
    return any(method(each, given.attr) is function for each in classes)


def targets_of(objects: Objects, site: Site) -> list[Function]:
    target = resolve(site.function, site.call.func)
    if isinstance(target, Function):
        return [target]
    if isinstance(target, Class):
        found = [method(target, "__init__")]
    elif isinstance(site.call.func, ast.Attribute):
        classes = objects.classes(site.call.func.value, Frame(site.function))
        found = [method(each, site.call.func.attr) for each in classes]
    else:
        return []
    return [each for each in found if each is not None]


def _kept_in(function: Function, names: set[str]) -> Iterator[str]:
    """Attributes that keep what the function got under one of these names, or that hold such things."""
    for node in own_nodes(function):
        value = node.value if isinstance(node, ast.Assign) else None
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPS:
            value, targets = (node.args[-1] if node.args else None), [node.func.value]
        if isinstance(value, ast.Name) and value.id in names:
            parts = (part for target in targets for part in ast.walk(target))
            yield from (part.attr for part in parts if isinstance(part, ast.Attribute))


def _calls_kept(site: Site, attribute: str) -> bool:
    """`self.listener()`, or `listener()` in a loop over `self.listeners`."""
    func = site.call.func
    if isinstance(func, ast.Attribute):
        return func.attr == attribute
    if not isinstance(func, ast.Name):
        return False
    for outer in ancestors(site.function.module, site.call):
        if isinstance(outer, (ast.For, ast.AsyncFor)):
            taken = {part.id for part in ast.walk(outer.target) if isinstance(part, ast.Name)}
            held = {part.attr for part in ast.walk(outer.iter) if isinstance(part, ast.Attribute)}
            if func.id in taken and attribute in held:
                return True
    return False
