"""Functions and classes that are looked up in a table of the program: `HANDLERS[kind](batch)`.

A table is a variable of a module, or an attribute of objects of a class. What is in it is written out there, or put in
by a decorator: `@handles("text")`, `@LAYERS.register("conv")`. In: the expression that is called. Out: what it may be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from rankandfile.source.dependence.index import MOST_SITES, Index, Site, index_of
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import KEEPS, argument, constant, loop_of
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.names import (
    Class,
    enclosing_class,
    imported_variable,
    method,
    resolve,
)
from rankandfile.source.program.scopes import binding_scope, own_nodes

Table: TypeAlias = tuple[Function | ast.ClassDef, str]
"""The body of the module and its variable, or the class and its attribute."""
_TAKES = {"get", "pop", "values", "items"}
_MOST = 12
_FURTHEST = 3


class Entry(Struct, frozen=True):
    target: Function | Class
    key: object = None
    """None where it is not written out."""


def looked_up(function: Function, e: ast.expr, left: int = _FURTHEST) -> list[Function | Class]:
    """What an expression that is called may be, where it is taken out of a table; nothing where that is too much."""
    found = list(dict.fromkeys(_taken(function, e, left)))
    return found if len(found) <= _MOST else []


def _taken(function: Function, e: ast.expr, left: int) -> Iterator[Function | Class]:
    if left == 0:
        return
    if isinstance(e, ast.Subscript):
        yield from _entries(function, e.value, constant(e.slice))
    elif isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.attr in _TAKES:
        yield from _entries(function, e.func.value, constant(argument(e, 0)))
    elif isinstance(e, ast.Name):
        loop = loop_of(function.module, e)
        if loop is not None:
            yield from _all_of(function, loop[0], left)
        elif binding_scope(function, e.id) is function and not isinstance(function.node, ast.Module):
            for d in reaching(function).everywhere(e.id):
                if isinstance(d.site, (ast.For, ast.AsyncFor)) and d.value is not None:
                    yield from _all_of(function, d.value, left)
                elif d.how == "assign" and d.value is not None:
                    yield from _taken(function, d.value, left - 1)


def _all_of(function: Function, over: ast.expr, left: int) -> Iterator[Function | Class]:
    if isinstance(over, ast.Call):
        yield from _taken(function, over, left - 1)
    else:
        yield from _entries(function, over, None)


def _entries(function: Function, table: ast.expr, key: object) -> Iterator[Function | Class]:
    found = _table(function, table)
    for entry in registered(index_of(function.module.program)).get(found, ()) if found is not None else ():
        if key is None or entry.key is None or key == entry.key:
            yield entry.target


def _table(function: Function, e: ast.expr) -> Table | None:
    if isinstance(e, ast.Name):
        scope = binding_scope(function, e.id)
        if scope is None or not isinstance(scope.node, ast.Module):
            return None
        for d in reaching(scope).everywhere(e.id):
            origin = (
                imported_variable(scope.module, e.id, d.site or d.node.what)
                if d.how == "definition"
                else None
            )
            if origin is not None:
                return origin
        return scope, e.id
    if not isinstance(e, ast.Attribute):
        return None
    base = resolve(function, e.value)
    if isinstance(base, Module):
        return base.functions[0], e.attr
    owner = enclosing_class(function) if _is_self(e.value) else None
    return (owner.node, e.attr) if owner is not None else None


def _is_self(e: ast.expr) -> bool:
    return isinstance(e, ast.Name) and e.id in ("self", "cls")


@kept
def registered(index: Index) -> dict[Table, list[Entry]]:
    """Table -> what the program puts in it."""
    found: dict[Table, list[Entry]] = {}
    for module in index.modules:
        for function in module.functions:
            if not isinstance(function.node, (ast.Module, ast.Lambda)):
                where = function.parent or module.functions[0]
                _decorated(where, function, function.node.decorator_list, found)
        for cls in module.classes.values():
            _decorated(module.functions[0], Class(module, cls), cls.decorator_list, found)
        _written_out(module, found)
    return found


def _written_out(module: Module, found: dict[Table, list[Entry]]) -> None:
    body = module.functions[0]
    for node in own_nodes(body):
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for name in (t.id for t in targets if isinstance(t, ast.Name)):
            pairs: list[tuple[ast.expr | None, ast.expr]] = []
            if isinstance(value, ast.Dict):
                pairs = list(zip(value.keys, value.values, strict=True))
            elif isinstance(value, (ast.List, ast.Tuple)):
                pairs = [(None, each) for each in value.elts]
            for key, each in pairs:
                target = resolve(body, each) if isinstance(each, (ast.Name, ast.Attribute)) else None
                if isinstance(target, (Function, Class)):
                    found.setdefault((body, name), []).append(Entry(target, constant(key)))


def _decorated(
    where: Function, target: Function | Class, decorators: list[ast.expr], found: dict[Table, list[Entry]]
) -> None:
    for decorator in decorators:
        call = decorator if isinstance(decorator, ast.Call) else None
        maker = _maker(where, call.func if call else decorator)
        if maker is None:
            continue
        inner = [f for f in maker.module.functions if f.parent is maker]
        for taker in inner if call is not None and inner else [maker]:
            own = taker.owner is not None and taker.parameters[:1] in (["self"], ["cls"])
            for parameter in taker.parameters[1:] if own and call is None else taker.parameters[:1]:
                for table, by in _puts(taker, parameter):
                    key = constant(argument(call, 0)) if call is not None and by in maker.parameters else None
                    found.setdefault(table, []).append(Entry(target, key))
                break


def _maker(where: Function, e: ast.expr) -> Function | None:
    """The decorator's function: of the program, or a method of an object that a variable of a module holds."""
    target = resolve(where, e)
    if isinstance(target, Function) or not isinstance(e, ast.Attribute):
        return target if isinstance(target, Function) else None
    table = _table(where, e.value)
    if table is None or isinstance(table[0], ast.ClassDef):
        return None
    for d in reaching(table[0]).everywhere(table[1]):
        made = resolve(table[0], d.value.func) if isinstance(d.value, ast.Call) else None
        if isinstance(made, Class):
            return method(made, e.attr)
    return None


def _puts(taker: Function, parameter: str) -> Iterator[tuple[Table, str]]:
    """Where a decorator puts what it is given, and the name of the key that it uses."""
    for node in own_nodes(taker):
        if isinstance(node, ast.Assign) and _named(node.value, parameter):
            places = [t for t in node.targets if isinstance(t, ast.Subscript)]
            for place in places:
                table = _table(taker, place.value)
                if table is not None:
                    yield table, getattr(place.slice, "id", "")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            puts = node.func.attr in KEEPS and node.args and _named(node.args[-1], parameter)
            table = _table(taker, node.func.value) if puts else None
            if table is not None:
                yield table, getattr(node.args[0], "id", "") if len(node.args) > 1 else ""


def _named(e: ast.expr, name: str) -> bool:
    return isinstance(e, ast.Name) and e.id == name


def calls_of_entries(index: Index, function: Function) -> list[tuple[Site, bool]]:
    """Calls of what a table holds that run the function, and whether they pass `self` by themselves."""
    makes = function.owner is not None and function.name in ("__init__", "__post_init__")
    target = Class(function.module, function.owner) if makes and function.owner is not None else function
    return [(site, makes) for site in lookups_called(index).get(target, ())[:MOST_SITES]]


@kept
def lookups_called(index: Index) -> dict[Function | Class, list[Site]]:
    """A function or class -> the calls of what is looked up where it is one of those that can be found."""
    found: dict[Function | Class, list[Site]] = {}
    if not registered(index):
        return found
    for site in index.calls_of_variables:
        if isinstance(site.call.func, (ast.Subscript, ast.Name)):
            for target in looked_up(site.function, site.call.func):
                found.setdefault(target, []).append(site)
    return found
