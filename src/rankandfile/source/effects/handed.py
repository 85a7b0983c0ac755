"""Calls of what a function was handed: a decorator's wrapper calls what it wraps, a cache calls what makes its items.

In: a function. Out: the calls that run it as the value of a parameter, each with the call that hands it over; of a
decorator there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.index import MOST_SITES, Index, Site
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.objects.called_later import called_later, targets_of
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve
from rankandfile.source.program.scopes import binding_scope, own_nodes


@dataclass(frozen=True)
class Handed:
    inside: Function
    """Where the call stands."""
    call: ast.Call
    by: Site | None = None


def handed(index: Index, objects: Objects, function: Function) -> Iterator[Handed]:
    for wrapper in wrappers_of(function):
        yield Handed(wrapper.inside, wrapper.call)
    for site in _hands_over(index, objects, function):
        for target in targets_of(objects, site):
            inside = called(target, site.call, Frame(site.function), bound=target.owner is not None)
            for name, argument in (inside.given or {}).items():
                if _is(argument.value, site.function, function, objects):
                    yield from (Handed(f, call, site) for f, call in _calls_of(target, name))
    if not isinstance(function.node, ast.Lambda):
        yield from (Handed(site.function, site.call) for site in islice(called_later(objects, function), 4))


@dataclass(frozen=True)
class Wrapper:
    inside: Function
    call: ast.Call
    maker: Function
    """The decorator, as it is written."""
    made_by: ast.Call | None
    """The call of it that makes the real one: `@retrying(3)`."""


def wrappers_of(function: Function) -> Iterator[Wrapper]:
    """The calls in the program's decorators of a function that run it."""
    for decorator in getattr(function.node, "decorator_list", ()):
        made_by = decorator if isinstance(decorator, ast.Call) else None
        maker = resolve(
            function.parent or function.module.functions[0], made_by.func if made_by else decorator
        )
        if not isinstance(maker, Function):
            continue
        takes = [maker] if made_by is None else [f for f in maker.module.functions if f.parent is maker]
        for taker in takes:
            for name in taker.parameters[:1]:
                yield from (Wrapper(f, call, maker, made_by) for f, call in _calls_of(taker, name))


def _hands_over(index: Index, objects: Objects, function: Function) -> Iterator[Site]:
    if isinstance(function.node, ast.Lambda):
        module = function.module
        outer = next(iter(ancestors(module, function.node)), None)
        if isinstance(outer, ast.keyword):
            outer = next(iter(ancestors(module, outer)), None)
        if isinstance(outer, ast.Call) and outer.func is not function.node and function.parent is not None:
            yield Site(function.parent, outer)
        return
    for site, given in islice(index.handed_over.get(function.name, ()), MOST_SITES):
        if _is(given, site.function, function, objects):
            yield site


def _is(given: ast.expr, where: Function, function: Function, objects: Objects) -> bool:
    if isinstance(given, ast.Lambda):
        return given is function.node
    if resolve(where, given) is function:
        return True
    if not isinstance(given, ast.Attribute) or function.owner is None or given.attr != function.name:
        return False
    if isinstance(given.value, ast.Name) and given.value.id == "self":
        scope: Function | None = where
        while scope is not None and scope.owner is None:
            scope = scope.parent
        return scope is not None and scope.owner is function.owner
    return any(each.node is function.owner for each in objects.classes(given.value, Frame(where)))


def _calls_of(function: Function, parameter: str) -> Iterator[tuple[Function, ast.Call]]:
    """Calls of a parameter in the function, and in those that stand in it."""
    for each in function.module.functions:
        scope: Function | None = each
        while scope is not None and scope is not function:
            scope = scope.parent
        if scope is None:
            continue
        for node in own_nodes(each):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == parameter
                and binding_scope(each, parameter) is function
            ):
                yield each, node
