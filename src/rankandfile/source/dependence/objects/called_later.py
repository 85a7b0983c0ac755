"""Functions that are handed over to be called later: listeners, hooks, callbacks.

`scheduler.on_empty(self.rest)` calls nothing; `on_empty` keeps it in a list, and where the list is gone through, `rest`
is called. So is what a decorator keeps: `@events.on("saved")`. In: a function. Out: those calls, each with the key
under which it was kept and the parameter that says which key is asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.index import MOST_SITES, Site
from rankandfile.source.dependence.syntax import COMPREHENSIONS, KEEPS, ancestors, argument, word
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, enclosing_class, lineage, method, resolve
from rankandfile.source.program.scopes import own_nodes

if TYPE_CHECKING:
    from .of_expressions import Objects


class Later(Struct, frozen=True):
    site: Site
    """The call that runs the function."""
    bound: bool
    """The object is its first argument there."""
    key: object = None
    """Under what it was kept; None where it is not written out."""
    asked: str = ""
    """The parameter of the site's function that says which key is called; empty: all of them are."""


class _Kept(Struct, frozen=True):
    attribute: str
    owner: Class | None
    """The class of the function that keeps it."""
    key: str = ""
    """The parameter or variable that is the key."""


def called_later(objects: Objects, function: Function) -> Iterator[Site]:
    """Where the function is called as what somebody was handed."""
    yield from (later.site for later in calls_later(objects, function))


def calls_later(objects: Objects, function: Function) -> Iterator[Later]:
    """The same, with what tells one listener from another."""
    for site, given in islice(_handed_over(objects, function), MOST_SITES):
        bound = function.owner is not None
        if isinstance(site.call.func, ast.Call):
            yield from _by_decorator(objects, site.function, site.call.func, site.call.func, bound)
        for target in targets_of(objects, site):
            inside = called(target, site.call, Frame(site.function), bound=target.owner is not None)
            names = {name for name, argument in (inside.given or {}).items() if argument.value is given}
            for kept in _kept_in(target, names):
                key = (inside.given or {}).get(kept.key)
                value = word(key.value) if key is not None else None
                yield from _calls(objects, kept, bound, value)
    where = function.parent
    for decorator in getattr(function.node, "decorator_list", ()) if where is not None else ():
        assert where is not None
        made_by = decorator if isinstance(decorator, ast.Call) else None
        call = made_by or ast.copy_location(
            ast.Call(decorator, [ast.Name(function.name, ast.Load())], []), decorator
        )
        yield from _by_decorator(objects, where, call, made_by, False)


def _handed_over(objects: Objects, function: Function) -> Iterator[tuple[Site, ast.expr]]:
    """Calls that are given the function, or an object that is called like it."""
    for site, given in objects.index.handed_over.get(function.name, ()):
        if _is(objects, site.function, given, function):
            yield site, given
    if function.name == "__call__" and function.owner is not None:
        yield from objects.index.objects_handed_over.get(Class(function.module, function.owner), ())


def _by_decorator(
    objects: Objects, where: Function, call: ast.Call, made_by: ast.Call | None, bound: bool
) -> Iterator[Later]:
    """What a decorator that keeps what it is put before calls: `@events.on("saved")`, `@events.listener`; also where it
    is written as the call that it is, `events.on("saved")(save)`."""
    for maker in targets_of(objects, Site(where, call)):
        inside = called(maker, call, Frame(where), bound=maker.owner is not None)
        takers = [maker] if made_by is None else [f for f in maker.module.functions if f.parent is maker]
        for taker in takers:
            own = taker.owner is not None and made_by is None
            for kept in _kept_in(taker, set(taker.parameters[1:2] if own else taker.parameters[:1])):
                key = (inside.given or {}).get(kept.key) if made_by is not None else None
                yield from _calls(objects, kept, bound, word(key.value) if key else None)


def _calls(objects: Objects, kept: _Kept, bound: bool, key: object) -> Iterator[Later]:
    for site in objects.index.calls_of_variables:
        asked = _calls_kept(site, kept)
        if asked is not None and _of_one_family(site.function, kept):
            yield Later(site, bound, key, asked)


def _of_one_family(function: Function, kept: _Kept) -> bool:
    """What a method goes through in `self` is what its own class keeps, or one that it derives from, or the other way
    round. Of a function that stands in no class it is not known."""
    inside, owner = enclosing_class(function), kept.owner
    return inside is None or owner is None or owner in lineage(inside) or inside in lineage(owner)


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


def _kept_in(function: Function, names: set[str]) -> Iterator[_Kept]:
    """Attributes that keep what the function got under one of these names, or that hold such things."""
    for node in own_nodes(function):
        value = node.value if isinstance(node, ast.Assign) else None
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in KEEPS:
            value, targets = (node.args[-1] if node.args else None), [node.func.value]
        if isinstance(value, ast.Name) and value.id in names:
            for target in targets:
                key = _key_in(target)
                parts = (part for part in ast.walk(target) if isinstance(part, ast.Attribute))
                held = (part.attr for part in parts if part.attr not in KEEPS)
                yield from (_Kept(attribute, enclosing_class(function), key) for attribute in held)


def _key_in(place: ast.expr) -> str:
    """`name` of `self.listeners[name]`, of `self.listeners.get(name, ())`, of `self.listeners.setdefault(name, [])`."""
    for part in ast.walk(place):
        key = part.slice if isinstance(part, ast.Subscript) else None
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            key = argument(part, 0) if part.func.attr in ("get", "setdefault") else None
        if isinstance(key, ast.Name):
            return key.id
    return ""


def _calls_kept(site: Site, kept: _Kept) -> str | None:
    """`self.listener()`, or `listener()` in a loop over `self.listeners`: the key that is asked for, or "" for any;
    None where it calls something else."""
    func, attribute = site.call.func, kept.attribute
    if isinstance(func, ast.Attribute):
        return "" if func.attr == attribute else None
    if isinstance(func, ast.Subscript):
        held = func.value
        return _key_in(func) if isinstance(held, ast.Attribute) and held.attr == attribute else None
    if not isinstance(func, ast.Name):
        return None
    for outer in ancestors(site.function.module, site.call):
        loops = outer.generators if isinstance(outer, COMPREHENSIONS) else [outer]
        for loop in loops:
            if isinstance(loop, (ast.For, ast.AsyncFor, ast.comprehension)):
                taken = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
                over = {part.attr for part in ast.walk(loop.iter) if isinstance(part, ast.Attribute)}
                if func.id in taken and attribute in over:
                    return _key_in(loop.iter)
    return None
