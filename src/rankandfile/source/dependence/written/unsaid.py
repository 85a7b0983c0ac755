"""Attributes that change without an assignment to their names: stored by any name, set through a property, deleted."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rankandfile.source.dependence.syntax import PUTS_IN, dotted, set_by_name
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

if TYPE_CHECKING:
    from rankandfile.source.dependence.index import Index

_ANY_NAME = re.compile(r"\bsetattr\(|\bvars\(|\b__dict__\b|__setattr__")


@kept
def stored_by_any_name(index: Index) -> list[tuple[Function, ast.expr]]:
    """Objects of which attributes are stored whose names are not written out: `setattr(x, name, v)`,
    `vars(x).update(...)`, `x.__dict__[name] = v`."""
    found: list[tuple[Function, ast.expr]] = []
    for module in index.modules:
        for function in module.functions if _ANY_NAME.search(module.text) else ():
            for node in own_nodes(function):
                by_name = set_by_name(node) if isinstance(node, ast.Call) else None
                if by_name is not None and by_name[1] is None:
                    found.append((function, by_name[0]))
                held: ast.AST | None = None
                if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                    held = node.value
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    held = node.func.value if node.func.attr in PUTS_IN else None
                if isinstance(held, ast.Attribute) and held.attr == "__dict__":
                    found.append((function, held.value))
                elif isinstance(held, ast.Call) and dotted(held.func) == "vars" and held.args:
                    found.append((function, held.args[0]))
    return found


@kept
def setters(index: Index) -> frozenset[str]:
    """Names of properties that something happens for when they are set."""
    functions = (function for module in index.modules for function in module.functions)
    return frozenset(
        (dotted(d) or "").removesuffix(".setter")
        for function in functions
        if not isinstance(function.node, (ast.Module, ast.Lambda))
        for d in function.node.decorator_list
        if (dotted(d) or "").endswith(".setter")
    )


@kept
def taken_away(index: Index) -> frozenset[str]:
    """Attributes that the program deletes from something."""
    nodes = (node for module in index.modules for node in module.nodes)
    deleted = (t for node in nodes if isinstance(node, ast.Delete) for t in node.targets)
    return frozenset(target.attr for target in deleted if isinstance(target, ast.Attribute))
