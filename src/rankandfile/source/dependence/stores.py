"""Where the program stores an attribute of the objects of a class."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import (
    Class,
    enclosing_class,
    lineage,
    methods,
    resolve,
)

from .assignments import Definition
from .frame import Frame, Instance
from .index import MOST_SITES, Index
from .reaching_assignments import reaching
from .syntax import argument, dotted, set_by_name, whose_class
from .written.unsaid import stored_by_any_name

if TYPE_CHECKING:
    from .objects import Objects

Store = tuple[Function, Definition]


def stores_of(objects: Objects, cls: Class, attribute: str) -> list[tuple[Function, Definition]]:
    """Every assignment to this attribute of objects of the class, with the function that it stands in."""
    found: list[tuple[Function, Definition]] = []
    family = methods(cls)
    for function in family:
        own = reaching(function).everywhere(f"self.{attribute}")
        found.extend((function, d) for d in own if d.how not in ("outside", "called"))
    for function, definition, target in stored_into(objects.index, attribute):
        if function in family and definition.name == f"self.{attribute}":
            continue
        owner = enclosing_class(function)
        if owner is not None and definition.name == f"self.{attribute}":
            if cls in lineage(owner) or (owner in lineage(cls) and _asked_by_super(objects.index, function)):
                found.append((function, definition))
        elif (named := _class_meant(function, target, owner)) is not None:
            if named in lineage(cls) or cls in lineage(named):
                found.append((function, definition))
        elif cls in objects.classes(whose_class(target) or target, Frame(function)):
            found.append((function, definition))
    return found


def _class_meant(function: Function, target: ast.expr, owner: Class | None) -> Class | None:
    """The class itself, as what is stored to: `Trainer.steps`, `cls.steps`, `type(self).steps`."""
    one = whose_class(target)
    if dotted(target) == "cls" or (one is not None and dotted(one) == "self"):
        return owner
    found = resolve(function, target)
    return found if isinstance(found, Class) else None


def _asked_by_super(index: Index, method: Function) -> bool:
    """Whether a method that another one overrides runs all the same."""
    calls = (site.call.func for site in index.calls(method.name))
    return any(
        isinstance(f, ast.Attribute) and isinstance(f.value, ast.Call) and dotted(f.value.func) == "super"
        for f in calls
    )


def stored_elsewhere(objects: Objects, attribute: str) -> list[tuple[Function, Definition]]:
    """Stores into this attribute of something of which nothing tells what it is: perhaps an object of the class."""
    return [
        (function, definition)
        for function, definition, target in stored_into(objects.index, attribute)
        if not definition.name.startswith(("self.", "cls."))
        and _class_meant(function, target, None) is None
        and not objects.of(target, Frame(function))
    ]


def stored_unnamed(objects: Objects, cls: Class) -> bool:
    """Whether the program may store into any attribute of the class, or of its objects, without naming it."""
    for function, target in stored_by_any_name(objects.index):
        if dotted(target) in ("self", "cls"):
            owner = enclosing_class(function)
            if owner is not None and cls in lineage(owner):
                return True
        found = objects.of(target, Frame(function))
        # Of what comes out of a table, or from elsewhere, it may be any.
        if not found or any(each.type is cls for each in found):
            return True
    return False


def stored_into(index: Index, attribute: str) -> Iterator[tuple[Function, Definition, ast.expr]]:
    """What the program stores into this attribute of anything, with the function, and the object stored to."""
    for function, name in index.stores.get(attribute, [])[: MOST_SITES * 4]:
        for definition in reaching(function).everywhere(name):
            target = object_stored_to(definition, attribute)
            if target is not None and definition.how not in ("outside", "called"):
                yield function, definition, target


def object_stored_to(d: Definition, attribute: str) -> ast.expr | None:
    """The object whose attribute a definition sets."""
    site = d.site
    if isinstance(site, ast.Call) and (by_name := set_by_name(site)) is not None:
        return by_name[0] if by_name[1] == attribute else None
    if isinstance(site, ast.Call) and isinstance(site.func, ast.Attribute):
        held = site.func.value
        known = isinstance(held, ast.Attribute) and held.attr == attribute and dotted(held) == d.name
        return held.value if isinstance(held, ast.Attribute) and known else None
    targets = site.targets if isinstance(site, ast.Assign) else [getattr(site, "target", None)]
    for target in targets:
        for part in ast.walk(target) if target is not None else ():
            if isinstance(part, ast.Attribute) and part.attr == attribute and dotted(part) == d.name:
                return part.value
    return None


def fields_of(cls: Class) -> list[str]:
    """The annotated names of the class and its bases, in the order in which a dataclass takes them."""
    bodies = (s for each in reversed(lineage(cls)) for s in each.node.body)
    annotated = (s.target for s in bodies if isinstance(s, ast.AnnAssign))
    return list(dict.fromkeys(target.id for target in annotated if isinstance(target, ast.Name)))


def given_to_field(
    objects: Objects, instance: Instance, name: str, frame: Frame
) -> Iterator[tuple[ast.expr, Frame]]:
    """What a field of a dataclass is given where its objects are made."""
    cls = instance.type
    fields = fields_of(cls) if isinstance(cls, Class) else []
    if not isinstance(cls, Class) or name not in fields:
        return
    made = [(s.call, Frame(s.function, None, frame.depth + 1)) for s in objects.index.made(cls)]
    if instance.made is not None:
        made = [(instance.made, instance.frame)]
    for call, outer in made[:MOST_SITES]:
        given = argument(call, fields.index(name), name)
        if given is not None and not outer.too_deep:
            yield given, outer
