"""A decision asks what is in a collection: what functions put something into it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.syntax import PUTS_IN
from rankandfile.source.program.places import SourcePlace


def attributes(asked: ast.AST) -> set[str]:
    """Attributes of the object itself: `self.totals`."""
    return {
        node.attr
        for node in ast.walk(asked)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def filling_methods(place: SourcePlace, attribute: str) -> Iterator[str]:
    """Methods of the same class that put something into the attribute."""
    for function in place.module.functions:
        if function.owner is None or function.owner is not place.function.owner or function is place.function:
            continue
        for node in function.nodes:
            target = added_to(node)
            if isinstance(target, ast.Attribute) and target.attr == attribute:
                yield function.name
                break


def added_to(node: ast.AST) -> ast.expr | None:
    """What the statement or call puts something into."""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return target.value if isinstance(target, ast.Subscript) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PUTS_IN:
        return node.func.value
    return None
