"""What an attribute holds on one rank: by everything that the program ever stores in it, or by a property."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.dependence.frame import Frame, Instance, called
from rankandfile.source.dependence.objects.instances import maker_or_default
from rankandfile.source.dependence.objects.of_expressions import property_of
from rankandfile.source.dependence.stores import fields_of, stored_unnamed
from rankandfile.source.dependence.syntax import argument
from rankandfile.source.program.modules import Module
from rankandfile.source.program.names import Class, External, body_fields, method, resolve
from rankandfile.source.program.scopes import scope_of
from rankandfile.source.registry.tables import canonical

from . import library, names
from .arithmetic import Values, union
from .mesh import MESH

if TYPE_CHECKING:
    from .values import OneRank


def attribute(one: OneRank, e: ast.Attribute, frame: Frame) -> Values:
    target = resolve(frame.function, e)
    if isinstance(target, External):
        return library.asked(canonical(target.dotted), one.rank, one.job)
    base = resolve(frame.function, e.value)
    if isinstance(base, Module):
        body = base.functions[0]
        return names.variable(one, body, e.attr, frame) if e.attr in scope_of(body).names else None
    if target is not None:
        return None
    if isinstance(base, Class):
        return _kept(one, base, e.attr, None, frame)
    found = one.objects.of(e.value, frame)
    if not found:
        # Nobody in the program gives the name a meaning of its own: it is the framework's.
        own = e.attr in one.index.stores or e.attr in one.index.defined
        return None if own else library.role(e.attr, one.rank, one.job)
    return union(_of_instance(one, each, e.attr, frame) for each in found)


def _of_instance(one: OneRank, instance: Instance, name: str, frame: Frame) -> Values:
    if isinstance(instance.type, Class):
        return _kept(one, instance.type, name, instance, frame)
    if instance.type == MESH and name == "shape":
        shape = argument(instance.made, 1, "mesh_shape") if instance.made is not None else None
        return None if shape is None else one.value(shape, instance.frame)
    known = library.asked(canonical(f"{instance.type}.{name}"), one.rank, one.job)
    return library.role(name, one.rank, one.job) if known is None else known


def _kept(one: OneRank, cls: Class, name: str, made: Instance | None, frame: Frame) -> Values:
    """What an object of the class keeps under the name, or its property returns."""
    own = property_of(cls, name)
    if own is not None:
        return one.returned(own, None, frame, bound=True)
    if method(cls, name) is not None:
        return None
    if _stored_by_strangers(one, name) or stored_unnamed(one.objects, cls):
        return None
    found: list[Values] = []
    for function, d in one.objects.stores(cls, name):
        inside = Frame(function, None, frame.depth + 1)
        if function.name == "__init__" and made is not None and made.made is not None:
            inside = called(function, made.made, made.frame, bound=True)
        found.append(names.definition(one, d, inside))
    found += _fields(one, cls, name, made, frame)
    return union(found) if found else library.role(name, one.rank, one.job)


def _stored_by_strangers(one: OneRank, name: str) -> bool:
    """Somebody stores into an attribute of this name of an object that nobody can tell."""
    for function, stored in one.index.stores.get(name, ()):
        base = stored.rpartition(".")[0]
        if base != "self" and not one.objects.of(ast.parse(base, mode="eval").body, Frame(function)):
            return True
    return False


def _fields(one: OneRank, cls: Class, name: str, made: Instance | None, frame: Frame) -> list[Values]:
    """A constant of the class, or a field of a dataclass, by what it is made with."""
    for each, s in body_fields(cls, name):
        usual = _default(one, each, s.value, frame)
        if isinstance(s, ast.Assign) or method(cls, "__init__") is not None:
            return [usual]
        return _given(one, cls, name, made, usual)
    return []


def _default(one: OneRank, cls: Class, value: ast.expr | None, frame: Frame) -> Values:
    body = Frame(cls.module.functions[0], {}, frame.depth + 1)
    made = maker_or_default(value)
    if made is not value and isinstance(made, ast.Call):
        # It is called when an object is made, and not when the module is imported.
        return one.value(made, body)
    if made is None:
        return None
    with one.imported():
        return one.value(made, body)


def _given(one: OneRank, cls: Class, name: str, made: Instance | None, usual: Values) -> list[Values]:
    order = fields_of(cls)
    sites = [(site.call, Frame(site.function)) for site in one.index.made(cls)]
    if made is not None and made.made is not None:
        sites = [(made.made, made.frame)]
    if not sites:
        return [None]
    found: list[Values] = []
    for call, outer in sites:
        value = argument(call, order.index(name), name)
        if value is not None:
            found.append(one.value(value, outer))
        elif any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
            found.append(None)
        else:
            found.append(usual)
    return found
