"""The nodes of a syntax tree, as `ast` itself gives them, in half the time: whole programs are walked again and again.

Whether a name is read or written (`ast.Load`, `ast.Store`) is no node here: Python has one of each for all names.
"""

from __future__ import annotations

import ast

#: Fields that hold text, numbers, or how a name is used: never a node.
_PLAIN = frozenset((
    "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "simple",
    "type_comment",
))  # fmt: skip


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """By kind of node, those that may hold nodes. What a constant holds is none."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        names = () if kind is ast.Constant else kind._fields
        self[kind] = found = tuple(name for name in names if name not in _PLAIN)
        return found


_fields = _Fields()


def children(node: ast.AST) -> list[ast.AST]:
    """As `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    for name in _fields[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found.extend([each for each in value if isinstance(each, ast.AST)])
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """As `ast.walk`: the node itself first, outer nodes before inner ones."""
    found = [node]
    for each in found:
        found.extend(children(each))
    return found
