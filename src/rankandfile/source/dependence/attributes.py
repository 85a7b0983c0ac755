"""Attributes: of modules, of classes, and of objects, by what the program ever stores in them."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.names import Class, External, method, resolve
from rankandfile.source.program.scopes import scope_of
from rankandfile.source.registry.tables import TABLE, canonical, is_pure, is_uniform, sanitiser, source

from . import control, counted, origins, returned
from .assignments import Definition
from .frame import Frame, Instance, called
from .objects import instances, kept_elsewhere, namespaces
from .objects.of_expressions import property_of
from .reaching_assignments import reaching
from .stores import object_stored_to, stored_elsewhere, stored_unnamed
from .syntax import KIND, Path, dotted, text, whose_class
from .value import UNIFORM, UNKNOWN, Value, join
from .written.unsaid import setters

if TYPE_CHECKING:
    from .evaluate import Evaluator

_SAME_ON_ALL = {
    "dtype",
    "device",
    "training",
    "requires_grad",
    "ndim",
    "__doc__",
    "is_cuda",
}


def attribute(ev: Evaluator, e: ast.Attribute, frame: Frame, path: Path) -> Value:
    """The value of `e` on all ranks together, where `e` is read in `frame`."""
    name = dotted(e)
    if name is not None and reaching(frame.function).has(name) and not _asks(ev, e, frame):
        flow = reaching(frame.function)
        uses = flow.nodes(e)
        return ev.definitions(flow.of(name, uses), frame, uses, path)
    target = resolve(frame.function, e)
    if isinstance(target, External):
        variable = path[0][1] if path and path[0][0] == "item" else None
        if target.dotted == "os.environ" and isinstance(variable, str):
            item = ast.copy_location(ast.Subscript(e, ast.Constant(variable), ast.Load()), e)
            return origins.environment(variable, item, frame)
        return _external(target.dotted, e, frame)
    base = resolve(frame.function, e.value)
    if isinstance(base, Module) and target is None and e.attr in scope_of(base.functions[0]).names:
        return ev.variable(base.functions[0], e.attr, frame, path)
    if target is not None:
        return UNIFORM
    if isinstance(base, Class):
        return _class_attribute(ev, base, e, frame, path, [])
    return _of_object(ev, e, frame, path)


def _asks(ev: Evaluator, e: ast.Attribute, frame: Frame) -> bool:
    """Whether it is a property, that makes what it likes of what it is set to."""
    known = e.attr in setters(ev.index)
    return known and any(property_of(cls, e.attr) is not None for cls in ev.objects.classes(e.value, frame))


def _external(name: str, e: ast.expr, frame: Frame) -> Value:
    known = source(name)
    if known is not None:
        return origins.from_table(known, e, frame)
    return UNIFORM if is_pure(name) or is_uniform(name) else UNKNOWN


def _of_object(ev: Evaluator, e: ast.Attribute, frame: Frame, path: Path) -> Value:
    if e.attr in ("__name__", "__class__"):
        return ev.value(e.value, frame, (KIND,))
    one = whose_class(e.value)
    if one is not None:
        classes = ev.objects.classes(one, frame)
        return join(_class_attribute(ev, cls, e, frame, path, []) for cls in classes) if classes else UNKNOWN
    if e.attr in _SAME_ON_ALL:
        return UNIFORM
    if e.attr == "grad" and not ev.index.reduces_gradients_by_itself:
        return origins.gradient(e, frame)
    by_class = _by_class(ev.objects.of(e.value, frame))
    found = [_class_attribute(ev, cls, e, frame, path, made) for cls, made in by_class.items()]
    several = len(by_class) > 1 or any(_one_of_several(ev, cls, made) for cls, made in by_class.items())
    if several and not ev.in_depth:
        # Which of them it is: each has a value of its own.
        found.append(ev.value(e.value, frame, (KIND,)))
    for name in ev.objects.externals(e.value, frame):
        known = source(f"{name}.{e.attr}")
        if known is not None:
            found.append(origins.from_table(known, e, frame))
        elif canonical(f"{name}.{e.attr}") in TABLE.counts:
            kind = canonical(f"{name}.{e.attr}")
            found.append(counted.how_often(ev, e, kind.rpartition(".")[0], TABLE.counts[kind]))
        elif is_uniform(f"{name}.{e.attr}") or sanitiser(f"{name}.{e.attr}") is not None:
            found.append(UNIFORM)
    if found:
        return join(found)
    kept = namespaces.of_namespace(ev, e, frame, path)
    return kept if kept is not None else ev.value(e.value, frame, (("attr", e.attr), *path))


def _one_of_several(ev: Evaluator, cls: Class, made: list[Instance]) -> bool:
    """Whether it may be any of several objects: by the calls that made it, or, where an annotation alone says of what
    class it is, by all that make such objects."""
    calls = {each.made for each in made}
    return len(calls) > 1 or (None in calls and len(ev.index.made(cls)) > 1)


def _by_class(found: list[Instance]) -> dict[Class, list[Instance]]:
    by_class: dict[Class, list[Instance]] = {}
    for each in found:
        if isinstance(each.type, Class):
            by_class.setdefault(each.type, []).append(each)
    return by_class


def _class_attribute(
    ev: Evaluator, cls: Class, e: ast.Attribute, frame: Frame, path: Path, made: list[Instance]
) -> Value:
    """An attribute of an object of a class of the tree, made by one of these calls."""
    found = property_of(cls, e.attr)
    if found is not None:
        return returned.body(ev, found, Frame(found, {}, frame.depth + 1, (*frame.key, e)), path, text(e))
    if method(cls, e.attr) is not None:
        return UNIFORM
    if not made or any(each.made is None for each in made):
        return of_class(ev, cls, e.attr, frame, path)
    return join(of_class(ev, cls, e.attr, frame, path, each) for each in made)


def of_class(
    ev: Evaluator, cls: Class, name: str, frame: Frame, path: Path, made: Instance | None = None
) -> Value:
    """What the program ever stores in an attribute of the class's objects; of one that is known by the call that made
    it, its constructor stores what it was given there."""
    stores = ev.objects.stores(cls, name)
    found = [
        (_stored_from(function, frame, made), d)
        for function, d in stores
        if _may_be(ev, function, d, name, made)
    ]
    if not found:
        value = instances.field(ev, cls, name, frame, path, made)
    elif not instances.has_field(cls, name):
        value = control.stored_anywhere(ev, found, path)
    else:
        # The class has a value of its own, which stays where nothing is stored.
        first = instances.field(ev, cls, name, frame, path, made)
        value = join([first, control.stored_anywhere(ev, found, path, before=True)])
    return value if value.level != "uniform" or ev.in_depth else _unless_stored(ev, cls, name, frame, path)


def _unless_stored(ev: Evaluator, cls: Class, name: str, frame: Frame, path: Path) -> Value:
    """Unknown, where the program may store another value without a word of what it stores to, or of the attribute."""
    if stored_unnamed(ev.objects, cls):
        return UNKNOWN
    others = [
        (Frame(function, None, frame.depth + 1), d) for function, d in stored_elsewhere(ev.objects, name)
    ]
    others += kept_elsewhere.changes_of_attribute(ev, cls, name, frame.depth)
    return UNIFORM if control.stored_anywhere(ev, others, path, before=True).level == "uniform" else UNKNOWN


def _may_be(ev: Evaluator, function: Function, d: Definition, name: str, made: Instance | None) -> bool:
    """Whether the object that is stored to can be the one that this call made."""
    base = object_stored_to(d, name) if made is not None and d.name != f"self.{name}" else None
    if made is None or base is None or whose_class(base) is not None:
        return True
    others = ev.objects.of(base, Frame(function))
    return not others or any(each.made is None or each.made is made.made for each in others)


def _stored_from(function: Function, frame: Frame, made: Instance | None) -> Frame:
    if made is not None and made.made is not None and function.name == "__init__":
        inside = called(function, made.made, made.frame, bound=True)
        if not inside.too_deep:
            return inside
    return Frame(function, None, frame.depth + 1)


@cache
def _parsed(name: str) -> ast.expr:
    return ast.parse(name, mode="eval").body


def _lasts(function: Function, own: Definition, d: Definition) -> bool:
    """Whether what the function itself stores is there when it begins again; inside, its steps tell what is stored."""
    flow = reaching(function)
    return d.how == "outside" and own in flow.of(own.name, [flow.graph.returns])


def stored(ev: Evaluator, d: Definition, frame: Frame, path: Path) -> Value:
    """An attribute as it was when the function began: what any function may have stored."""
    base, _, attribute = d.name.rpartition(".")
    e = _parsed(base)
    values = []
    for cls in ev.objects.classes(whose_class(e) or e, frame):
        stores = ev.objects.stores(cls, attribute)
        found = [
            (Frame(function, None, frame.depth + 1), each)
            for function, each in stores
            if function is not frame.function or _lasts(function, each, d)
        ]
        values.append(control.stored_anywhere(ev, found, path) if found else UNKNOWN)
    if values:
        return join(values)
    if attribute == "grad" and not ev.index.reduces_gradients_by_itself and isinstance(e, ast.expr):
        line = d.line or getattr(d.node.what, "lineno", frame.function.first_line)
        return origins.gradient(ast.Attribute(e, attribute, ast.Load(), lineno=line), frame)
    return UNKNOWN
