"""Calls of what a function was handed: a decorator's wrapper calls what it wraps, a cache calls what makes its items.

In: a function. Out: the calls that run it as the value of a parameter, each with the call that hands it over; of a
decorator there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.index import MOST_SITES, Index, Site, function_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.objects.called_later import called_later, targets_of
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.scopes import binding_scope, own_nodes
from rankandfile.source.registry.tables import TABLE, canonical

from .wrapped import last_name

_OF_TORCH = "torch.distributed."
_MOST_LATER = 4


class Handed(Struct, frozen=True):
    inside: Function
    call: ast.Call
    runs: Function
    """The function itself, or one that hands it on."""
    by: ast.Call | None = None
    """The call that hands the function over first."""


_FURTHEST = 2
"""Functions that hand on what they were handed."""


def handed(index: Index, objects: Objects, function: Function) -> Iterator[Handed]:
    for wrapper in wrappers_of(function):
        yield Handed(wrapper.inside, wrapper.call, function)
    for site in _hands_over(index, objects, function):
        yield from _through(objects, site, function, site.call, _FURTHEST)
    if not isinstance(function.node, ast.Lambda):
        sites = islice(called_later(objects, function), _MOST_LATER)
        yield from (Handed(site.function, site.call, function) for site in sites)


def _through(
    objects: Objects, site: Site, function: Function, first: ast.Call, left: int, passed: str = ""
) -> Iterator[Handed]:
    """What the call of the site does with the function; `passed`: under this name of a parameter."""
    for target in targets_of(objects, site):
        inside = called(target, site.call, Frame(site.function), bound=target.owner is not None)
        for name, argument in (inside.given or {}).items():
            value = argument.value
            named = isinstance(value, ast.Name) and value.id == passed
            if not (named if passed else _is(value, site.function, function, objects)):
                continue
            found = [Handed(f, call, function, first) for f, call in _calls_of(target, name)]
            for further in _passed_on(target, name) if left else ():
                found.extend(_through(objects, further, function, first, left - 1, name))
            if found:
                yield Handed(site.function, site.call, target, first if passed else None)
            yield from found


def _passed_on(function: Function, parameter: str) -> Iterator[Site]:
    for node in own_nodes(function):
        if isinstance(node, ast.Call):
            given = (*node.args, *(k.value for k in node.keywords))
            if any(isinstance(each, ast.Name) and each.id == parameter for each in given):
                yield Site(function, node)


def collectives_handed(index: Index, objects: Objects) -> Iterator[tuple[Function, ast.Call, str]]:
    """`timed("sum", dist.all_reduce, x)`: the call, where it stands, and the collective's name."""
    names = {name.rpartition(".")[2] for name in TABLE.collectives if name.startswith(_OF_TORCH)}
    for module in index.modules:
        if not any(name in module.text for name in ("torch.distributed", "dist.")):
            continue
        for function in module.functions:
            for node in own_nodes(function):
                if not isinstance(node, ast.Call):
                    continue
                for given in node.args:
                    if not isinstance(given, ast.Attribute) or given.attr not in names:
                        continue
                    target = resolve(function, given)
                    name = canonical(target.dotted) if isinstance(target, External) else ""
                    if name in TABLE.collectives and _is_called(objects, Site(function, node), given):
                        yield function, node, name


def _is_called(objects: Objects, site: Site, given: ast.expr) -> bool:
    for target in targets_of(objects, site):
        inside = called(target, site.call, Frame(site.function), bound=target.owner is not None)
        for name, argument in (inside.given or {}).items():
            if argument.value is given and any(True for _ in _calls_of(target, name)):
                return True
    return False


class Wrapper(Struct, frozen=True):
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


#: What runs a function in another thread while its caller waits for it, and where that stands among the arguments.
IN_A_THREAD = {"to_thread": 0, "run_in_executor": 1, "run_sync": 0}


def run_in_a_thread(index: Index, function: Function) -> Iterator[tuple[Site, ast.Call]]:
    """Where a thread is given the function, and that as the call that the thread makes of it."""
    named = (
        each
        for each in index.handed_over.get(function.name, ())
        if last_name(each[0].call.func) in IN_A_THREAD
    )
    for site, given in islice(named, MOST_SITES):
        at = IN_A_THREAD[last_name(site.call.func)]
        waits = isinstance(next(ancestors(site.function.module, site.call), None), ast.Await)
        if waits and given in site.call.args[at : at + 1] and function_of(site.function, given) is function:
            yield site, ast.copy_location(ast.Call(given, site.call.args[at + 1 :], []), site.call)
