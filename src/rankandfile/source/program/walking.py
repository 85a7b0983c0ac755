"""The nodes of a syntax tree, as `ast` itself gives them, in half the time: whole programs are walked again and again.

Whether a name is read or written (`ast.Load`, `ast.Store`) is no node here: Python has one of each for all names.
"""

from __future__ import annotations

import ast


def children(node: ast.AST) -> list[ast.AST]:
    """As `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found.extend([each for each in value if isinstance(each, ast.AST)])
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """As `ast.walk`: the node itself first, outer nodes before inner ones."""
    found = [node]
    for each in found:
        found.extend(children(each))
    return found
