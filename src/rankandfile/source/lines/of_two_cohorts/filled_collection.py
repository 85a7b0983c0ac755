"""A decision asks what is in a collection; this finds the decision upon which something was put into it, or was not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason, why
from rankandfile.source.dependence.syntax import PUTS_IN
from rankandfile.source.flow import Condition, tested
from rankandfile.source.lines.arguments import called_name
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace, SourcePlaces


@heuristic("what filled the collection", "a test on what is in a collection was decided where it was filled")
def filled_upon(
    places: SourcePlaces, outer: CallPath, place: SourcePlace, asked: ast.AST
) -> tuple[SourcePlace, Condition, Reason] | None:
    """The nearest decision that differs between ranks, and adds to what `asked` goes over or tests.

    A local collection is filled in the same function. One that belongs to an object is filled by its methods; those are
    called from the functions that led to this place.
    """
    for name in _names(asked):
        found = _in_function(places, place, {name}, set())
        if found is not None:
            return found
    methods = {m for attribute in attributes(asked) for m in filling_methods(place, attribute)}
    for frame in reversed(outer):
        around = places.find(frame)
        if methods and around is not None and around.known:
            found = _in_function(places, around, set(), methods)
            if found is not None:
                return found
    return None


def _names(asked: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(asked) if isinstance(node, ast.Name)} - {"self"}


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
        for node in ast.walk(function.node):
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


def _in_function(
    places: SourcePlaces, place: SourcePlace, names: set[str], methods: set[str]
) -> tuple[SourcePlace, Condition, Reason] | None:
    """The innermost `if` of the function under which one of the names is added to, or one of the methods called."""
    for test in _guards(place.function, names, methods):
        condition = tested(place.module.lines, test.lineno, test.test)
        reason = why(places.program, place.function, condition)
        if reason.level == "varying":
            return place, condition, reason
    return None


def _guards(function: Function, names: set[str], methods: set[str]) -> list[ast.If]:
    found = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.If)
        and any(_fills(n, names, methods) for part in node.body for n in ast.walk(part))
    ]
    return sorted(found, key=lambda node: (node.end_lineno or node.lineno) - node.lineno)


def _fills(node: ast.AST, names: set[str], methods: set[str]) -> bool:
    target = added_to(node)
    if isinstance(target, ast.Name) and target.id in names:
        return True
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called_name(node) in methods
    )
