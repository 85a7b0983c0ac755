"""What an object keeps under a name of its own, and somebody else has as well: a list that it was given.

`Reader(self.queue)` keeps the queue as `self.sink`: what the reader puts into its sink is in the queue.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from rankandfile.source.dependence.assignments import Definition
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.stores import fields_of, stored_into
from rankandfile.source.dependence.syntax import argument, dotted, set_by_name
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, enclosing_class, lineage, method, resolve
from rankandfile.source.program.scopes import binding_scope, own_nodes

if TYPE_CHECKING:
    from rankandfile.source.dependence.evaluate import Evaluator
    from rankandfile.source.dependence.index import Index

_CHANGES = ("mutate", "remove")


class Handed(Struct, frozen=True):
    function: Function
    what: ast.expr
    """A name, or an attribute: whose value is kept."""
    attribute: str
    """Under which name it is kept."""


def changes_of_variable(
    ev: Evaluator, scope: Function, name: str, depth: int
) -> list[tuple[Frame, Definition]]:
    """What objects that keep the value of a variable put into it, or take out of it."""
    handed = handed_over(ev.index).get(name, ())
    ours = (
        one for one in handed if isinstance(one.what, ast.Name) and binding_scope(one.function, name) is scope
    )
    return [found for one in ours for found in _changes(ev, one.attribute, depth)]


def changes_of_attribute(ev: Evaluator, cls: Class, name: str, depth: int) -> list[tuple[Frame, Definition]]:
    """The same of an attribute of the objects of a class."""
    ours = (
        one
        for one in handed_over(ev.index).get(name, ())
        if isinstance(one.what, ast.Attribute) and _is_of(ev, cls, one.what.value, one.function)
    )
    return [found for one in ours for found in _changes(ev, one.attribute, depth)]


def _is_of(ev: Evaluator, cls: Class, held: ast.expr, function: Function) -> bool:
    owner = enclosing_class(function) if dotted(held) == "self" else None
    if owner is not None:
        return cls in lineage(owner) or owner in lineage(cls)
    return cls in ev.objects.classes(held, Frame(function))


def _changes(ev: Evaluator, attribute: str, depth: int) -> Iterator[tuple[Frame, Definition]]:
    for function, definition, _target in stored_into(ev.index, attribute):
        if definition.how in _CHANGES:
            yield Frame(function, None, depth + 1), definition


@kept
def handed_over(index: Index) -> dict[str, list[Handed]]:
    """What attributes are given the value of another variable, by the last part of its name."""
    found: dict[str, list[Handed]] = {}
    for module in index.modules:
        for function in module.functions:
            for what, attribute in _kept_in(function):
                if isinstance(what, (ast.Name, ast.Attribute)):
                    name = what.id if isinstance(what, ast.Name) else what.attr
                    found.setdefault(name, []).append(Handed(function, what, attribute))
    return found


def _kept_in(function: Function) -> Iterator[tuple[ast.expr, str]]:
    """What is stored in an attribute, here or by the constructor that it is given to; the attribute."""
    for node in own_nodes(function):
        if isinstance(node, ast.Assign):
            yield from ((node.value, t.attr) for t in node.targets if isinstance(t, ast.Attribute))
        elif isinstance(node, ast.Call):
            by_name = set_by_name(node)
            if by_name is not None and by_name[1] is not None:
                yield by_name[2], by_name[1]
            cls = resolve(function, node.func) if node.args or node.keywords else None
            if isinstance(cls, Class):
                yield from _by_constructor(cls, node)


def _by_constructor(cls: Class, call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    made = method(cls, "__init__")
    if made is None:
        for place, name in enumerate(fields_of(cls)):
            if (given := argument(call, place, name)) is not None:
                yield given, name
        return
    for what, attribute in _stored_parameters(made):
        given = argument(call, made.parameters.index(what) - 1, what)
        if given is not None:
            yield given, attribute


@kept
def _stored_parameters(function: Function) -> list[tuple[str, str]]:
    """`self.sink = sink`: the parameter, and the attribute."""
    return [
        (node.value.id, target.attr)
        for node in own_nodes(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
        for target in node.targets
        if isinstance(target, ast.Attribute) and node.value.id in function.parameters[1:]
    ]
