"""What a framework brings into the program: the classes that one derives from, and what hooks of such a class, or
functions that are handed to the framework, are given."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from rankandfile.source.dependence.index import MOST_SITES, function_of
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, external_bases, resolve
from rankandfile.source.registry.entry import Source
from rankandfile.source.registry.tables import TABLE, canonical

if TYPE_CHECKING:
    from .of_expressions import Objects


_HOOKS = ("on_", "setup", "teardown")


def outside(cls: Class) -> list[str]:
    """The classes outside the tree that a class derives from."""
    return [canonical(name) for name in sorted(external_bases(cls))]


def given_by_framework(objects: Objects, function: Function, name: str) -> str | Source | None:
    """What a framework gives a function of the program for this parameter: a class's name, or a kind of value."""
    return _of_a_hook(objects, function, name) or _of_a_function_handed(objects, function, name)


def _of_a_hook(objects: Objects, function: Function, name: str) -> str | Source | None:
    """What a framework gives a method of a class derived from one of its own: a class's name, or a kind of value."""
    if function.owner is None:
        return None
    for base in outside(Class(function.module, function.owner)):
        hooks = TABLE.hooks.get(base, {})
        given = hooks.get(name) or (
            None if _called_here(objects, function) else _by_place(function, name, hooks)
        )
        if given is not None:
            return given
    return None


def _called_here(objects: Objects, function: Function) -> bool:
    """Whether the program itself calls what has this name, but to hand a hook on: then it may be no hook at all."""
    return any(site.function.name != function.name for site in objects.index.calls(function.name))


def _by_place(function: Function, name: str, hooks: Mapping[str, str | Source]) -> str | None:
    """A framework gives its own objects by place, and all its hooks the same first ones: a program may call them as it
    likes."""
    if name not in function.parameters or not function.name.startswith(_HOOKS):
        return None
    place = function.parameters.index(name) - 1
    objects = [given for given in hooks.values() if isinstance(given, str)]
    return objects[place] if 0 <= place < len(objects) else None


def _of_a_function_handed(objects: Objects, function: Function, name: str) -> str | Source | None:
    """What a framework gives a function that it was handed: `Engine(step)` calls `step(engine, batch)`."""
    if name not in function.parameters:
        return None
    place = function.parameters.index(name) - (function.parameters[0] in ("self", "cls"))
    for site, given in islice(objects.index.handed_over.get(function.name, ()), MOST_SITES):
        target = resolve(site.function, site.call.func)
        gives = TABLE.handed.get(canonical(target.dotted), ()) if isinstance(target, External) else ()
        if 0 <= place < len(gives) and function_of(site.function, given) is function:
            return gives[place]
    return None
