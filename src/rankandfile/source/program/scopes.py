"""What the scope of a function binds, and the parts of the program that belong to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from .kept import kept
from .modules import Function
from .walking import children


class Scope(Struct, frozen=True):
    """What a function's own scope binds: names -> the nodes that bind them; star imports are under "*"."""

    names: dict[str, list[ast.AST]]
    declared: frozenset[str]
    """Global and nonlocal names."""


def binding_scope(function: Function, name: str) -> Function | None:
    """The function around, or the body of its module, whose own the name is; None for a builtin or a star import."""
    scope: Function | None = function
    while scope is not None:
        own = scope_of(scope)
        if name in own.names and (name not in own.declared or isinstance(scope.node, ast.Module)):
            return scope
        scope = scope.parent
    return None


@kept
def scope_of(function: Function) -> Scope:
    table: dict[str, list[ast.AST]] = {}
    declared: set[str] = set()
    for parameter in function.parameters:
        table.setdefault(parameter, []).append(function.node)
    for node in own_nodes(function):
        for name in _bound(node):
            table.setdefault(name, []).append(node)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
    return Scope(table, frozenset(declared))


@kept
def own_nodes(function: Function) -> list[ast.AST]:
    """Every node of the function's own scope, in source order; nested functions and classes appear, not their
    insides (the class bodies of a module neither)."""
    return list(_own_nodes(function))


@kept
def returned_values(function: Function) -> list[ast.expr]:
    """What the function's own return statements return."""
    returns = (node for node in own_nodes(function) if isinstance(node, ast.Return))
    return [node.value for node in returns if node.value is not None]


def yielded_values(function: Function) -> list[ast.expr]:
    """What the function's own `yield` expressions yield, one item each."""
    yields = (node for node in own_nodes(function) if isinstance(node, ast.Yield))
    return [node.value for node in yields if node.value is not None]


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    node = function.node
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    stack = list(reversed(body))
    while stack:
        current = stack.pop()
        yield current
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner: list[ast.AST] = [*current.decorator_list, *current.args.defaults]
            inner.extend(d for d in current.args.kw_defaults if d is not None)
            stack.extend(reversed(inner))
        elif isinstance(current, ast.Lambda):
            continue
        elif isinstance(current, ast.ClassDef):
            stack.extend(reversed([*current.decorator_list, *current.bases]))
        else:
            stack.extend(reversed(children(current)))


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.split(".")[0]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
