"""The calls of a function in the program."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from rankandfile.source.program.families import family
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import (
    Class,
    by_autograd,
    enclosing_class,
    lineage,
    method,
    resolve,
)

from .frame import Frame
from .index import MOST_SITES, Site
from .syntax import dotted
from .written.decorated import stands_in_for

if TYPE_CHECKING:
    from .objects import Objects

MOST_CALLS = 2000


def callers_of(objects: Objects, function: Function) -> list[tuple[Site, bool]]:
    """Every place that calls the function, and whether the call passes `self` by itself."""
    found: list[tuple[Site, bool]] = []
    owner = Class(function.module, function.owner) if function.owner is not None else None
    names = [function.name]
    if owner is not None and function.name in ("__init__", "__new__", "__post_init__"):
        names = [c.name for c in family(owner)]
    elif by_autograd(function):
        names = ["apply"]
    elif owner is not None and function.name in ("forward", "__call__"):
        found = _called_objects(objects, owner)
    for name in names:
        for site in objects.index.calls(name):
            if len(found) >= MOST_SITES:
                return found
            target = resolve(site.function, site.call.func)
            if target is function:
                bound = owner is not None and not is_static(function)
                given = is_of_class(function) or by_autograd(function) or _through_self(site)
                found.append((site, bound and given))
            elif isinstance(target, Class) and owner is not None and owner in lineage(target):
                if method(target, function.name) is function:
                    found.append((site, True))
            elif target is None and owner is not None and isinstance(site.call.func, ast.Attribute):
                receivers = objects.classes(site.call.func.value, Frame(site.function))
                above = _above(site)
                if any(method(c, function.name) is function for c in (*receivers, *above[:1])):
                    found.append((site, not is_static(function)))
    return found or _of_what_it_stands_in_for(objects, function)


def _of_what_it_stands_in_for(objects: Objects, function: Function) -> list[tuple[Site, bool]]:
    """Calls of what a decorator has put this function in the place of; not where it takes the object as one of many."""
    node = function.node
    named = not isinstance(node, ast.Module) and bool([*node.args.posonlyargs, *node.args.args])
    sites = (found for one in stands_in_for(objects, function) for found in callers_of(objects, one))
    return [(site, bound) for site, bound in islice(sites, MOST_SITES) if named or not bound]


def _above(site: Site) -> list[Class]:
    """The classes that `super()` means there, the nearest first."""
    called = site.call.func.value if isinstance(site.call.func, ast.Attribute) else None
    if not isinstance(called, ast.Call) or dotted(called.func) != "super":
        return []
    owner = enclosing_class(site.function)
    return lineage(owner)[1:] if owner is not None else []


def _called_objects(objects: Objects, owner: Class) -> list[tuple[Site, bool]]:
    """Calls of an object: `self.model(batch)` is `forward`."""
    found: list[tuple[Site, bool]] = []
    for site in objects.index.calls_of_variables[:MOST_CALLS]:
        if owner in objects.classes(site.call.func, Frame(site.function)):
            found.append((site, True))
        if len(found) >= MOST_SITES:
            break
    return found


def is_static(function: Function) -> bool:
    """Its first parameter is the first argument of its calls."""
    node = function.node
    if by_autograd(function):
        return False
    if isinstance(node, (ast.Module, ast.Lambda)):
        return True
    return any(dotted(d) == "staticmethod" for d in node.decorator_list)


def is_of_class(function: Function) -> bool:
    """A class method: its first parameter is the class, however it is called."""
    node = function.node
    decorators = [] if isinstance(node, (ast.Module, ast.Lambda)) else node.decorator_list
    return any(dotted(d) == "classmethod" for d in decorators)


def own_class(e: ast.expr, function: Function) -> Class | None:
    """`cls(...)` in a method of the class."""
    if not isinstance(e, ast.Name) or e.id != "cls" or function.parameters[:1] != ["cls"]:
        return None
    return enclosing_class(function)


def _through_self(site: Site) -> bool:
    """`Class.method(obj, ...)` passes the object itself; `super().m(...)` and `self.m(...)` do not."""
    target = (
        resolve(site.function, site.call.func.value) if isinstance(site.call.func, ast.Attribute) else None
    )
    return not isinstance(target, Class)
