"""What a name holds on one rank: by the assignments that reach it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.dependence.assignments import Definition
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import ancestors, loop_of
from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.names import imported_variable, resolve
from rankandfile.source.program.scopes import binding_scope, scope_of

from .arithmetic import MOST, Values, each, union
from .parameters import parameter
from .rounds import held_name

if TYPE_CHECKING:
    from .values import OneRank


def name(one: OneRank, e: ast.Name, frame: Frame) -> Values:
    if (held := held_name(one, e, frame.function)) is not None:
        return held
    if loop_of(frame.function.module, e) is not None:
        return None
    scope = binding_scope(frame.function, e.id)
    if scope is None:
        return None
    if scope is not frame.function or isinstance(scope.node, ast.Module):
        return variable(one, scope, e.id, frame)
    flow = reaching(scope)
    return _any_of(one, flow.of(e.id, flow.nodes(e)), frame)


def variable(one: OneRank, scope: Function, name: str, frame: Frame) -> Values:
    """A variable of an outer scope: whatever it is ever given there, or by functions that declare it theirs."""
    outside = isinstance(scope.node, ast.Module)
    if outside and _stored_from_elsewhere(one, scope.module, name):
        return None
    inside = Frame(scope, {} if outside else None, frame.depth + 1)
    found = [_any_of(one, reaching(scope).everywhere(name), inside)] if not outside else []
    if outside:
        with one.imported():
            found.append(_any_of(one, reaching(scope).everywhere(name), inside))
    found += [
        _any_of(one, reaching(function).everywhere(name), Frame(function, None, frame.depth + 1))
        for function in scope.module.functions
        if function is not scope and name in scope_of(function).declared
    ]
    return union(found)


def _stored_from_elsewhere(one: OneRank, module: Module, name: str) -> bool:
    """`settings.VERBOSE = True` in another file."""
    for function, dotted in one.index.stores.get(name, ()):
        base = ast.parse(dotted.rpartition(".")[0], mode="eval").body
        if resolve(function, base) is module:
            return True
    return False


def _any_of(one: OneRank, found: list[Definition], frame: Frame) -> Values:
    """One of these definitions gave the name its value, if the rank can have come by it."""
    possible = [d for d in found if d.how == "parameter" or not _ruled_out(one, d, frame)]
    return union(definition(one, d, frame) for d in possible)


def _ruled_out(one: OneRank, d: Definition, frame: Frame) -> bool:
    """It stands under a test that the rank does not pass."""
    node = d.site if d.site is not None else d.node.what
    below: ast.AST | None = node
    for outer in ancestors(frame.function.module, node) if node is not None else ():
        if outer is frame.function.node:
            break
        if isinstance(outer, ast.If) and below is not outer.test:
            inside = any(below is s for s in outer.body)
            if inside not in one.ways(outer.test, frame):
                return True
        below = outer
    return False


def definition(one: OneRank, d: Definition, frame: Frame) -> Values:
    """What one definition gives its name on this rank."""
    if d.how == "parameter":
        return parameter(one, d.name, frame)
    if d.how == "definition":
        return _imported(one, d, frame)
    if d.how != "assign" or d.value is None:
        return None
    if isinstance(d.site, (ast.For, ast.AsyncFor)):
        return _items(one, d, frame)
    if isinstance(d.value, (ast.Tuple, ast.List)) and len(d.path) == 1 and isinstance(d.path[0][1], int):
        # The others of the row need not be known.
        return one.value(d.value.elts[d.path[0][1]], frame) if d.path[0][1] < len(d.value.elts) else None
    values = one.value(d.value, frame)
    for kind, key in d.path:
        if kind != "item" or not isinstance(key, int):
            return None
        values = each(values, lambda v, key=key: v[key])  # type: ignore[misc]
    return values


def _items(one: OneRank, d: Definition, frame: Frame) -> Values:
    """The variable of a loop over a few known items."""
    if len(d.path) != 1 or not isinstance(d.value, (ast.Tuple, ast.List)) or len(d.value.elts) > MOST:
        return None
    return union(one.value(element, frame) for element in d.value.elts)


def _imported(one: OneRank, d: Definition, frame: Frame) -> Values:
    """`from layout import LOCAL`: the variable of the other module."""
    origin = imported_variable(frame.function.module, d.name, d.site or d.node.what)
    return None if origin is None else variable(one, *origin, frame)
