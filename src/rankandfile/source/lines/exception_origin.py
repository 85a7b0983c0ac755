"""Where an exception came from, what it was raised upon, and who caught it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TypeAlias

from rankandfile.source.dependence.syntax import if_of
from rankandfile.source.flow import Condition, deciding, swallows
from rankandfile.source.program.places import SourcePlace, SourcePlaces

from .call_paths import CallPath

Keeper: TypeAlias = "ast.ExceptHandler | ast.With | ast.AsyncWith"
"""What ends an exception that is raised in its block: the program goes on behind it."""


def condition_of_raise(place: SourcePlace) -> Condition | None:
    """The decision upon which the line raises, if what is written there is a `raise` or an `assert`."""
    for node in place.function.nodes:
        if not isinstance(node, (ast.Raise, ast.Assert)):
            continue
        if node.lineno <= place.line <= (node.end_lineno or node.lineno):
            found = deciding(place.function, node.lineno, "return")
            return found[0] if found else None
    return None


def raised_below(place: SourcePlace, condition: Condition) -> ast.Raise | None:
    """The `raise` that a condition leads to directly, in its own branch."""
    node = if_of(place.function.node, condition.node)
    for branch in (node.body, node.orelse) if node is not None else ():
        if branch and isinstance(branch[-1], ast.Raise):
            return branch[-1]
    return None


def catcher(
    places: SourcePlaces, outer: CallPath, raised: ast.Raise | None
) -> tuple[SourcePlace, Keeper] | None:
    """The nearest handler around the frames, from the innermost, that keeps what was raised to itself."""
    for frame in reversed(outer):
        place = places.find(frame)
        if place is None or not place.known:
            return None
        handler = keeper_around(place, raised)
        if handler is not None:
            return place, handler
    return None


def ends_the_program(places: SourcePlaces, outer: CallPath) -> bool:
    """Whether an exception would be seen nowhere in these frames: all are known, and none catches it or has a `finally`
    around what it was in."""
    found = [places.find(frame) for frame in outer]
    return all(
        place is not None
        and place.known
        and not any(one.finalbody for one in _tries(place))
        and keeper_around(place, None) is None
        for place in found
    )


def keeper_around(place: SourcePlace, raised: ast.Raise | None) -> Keeper | None:
    """The nearest handler, or context manager, around the line that keeps what was raised to itself."""
    # Of two around one line the one that begins later is the inner one.
    around: list[tuple[int, Keeper]] = [
        (node.body[0].lineno, handler)
        for node in _tries(place)
        for handler in node.handlers
        if not raises_on(handler) and (raised is None or _catches(handler, raised))
    ]
    around += [(node.body[0].lineno, node) for node in _swallowing(place, raised)]
    return max(around, key=lambda one: one[0], default=(0, None))[1]


def keeps(keeper: Keeper, text: str) -> Condition:
    """That it came to the handler, as a condition."""
    if isinstance(keeper, ast.ExceptHandler):
        return Condition(keeper.lineno, text, "except", "not raised", "raised", keeper)
    return Condition(keeper.lineno, text, "with", "not raised", "swallowed", keeper.items[-1].context_expr)


def _swallowing(place: SourcePlace, raised: ast.Raise | None) -> Iterator[ast.With | ast.AsyncWith]:
    for node in place.function.nodes:
        if isinstance(node, (ast.With, ast.AsyncWith)) and _holds(node.body, place.line):
            thrown = raised.exc if raised is not None else None
            if any(swallows(place.function, item.context_expr, thrown) != "no" for item in node.items):
                yield node


def _holds(body: list[ast.stmt], line: int) -> bool:
    return body[0].lineno <= line <= (body[-1].end_lineno or 0)


def _tries(place: SourcePlace) -> list[ast.Try]:
    """The `try` statements whose body the line is in."""
    return [
        node for node in place.function.nodes if isinstance(node, ast.Try) and _holds(node.body, place.line)
    ]


def handlers_around(place: SourcePlace) -> list[ast.ExceptHandler]:
    """Of the `try` statements whose body the line is in, the innermost first, those that keep what is raised."""
    around = sorted(_tries(place), key=lambda node: -node.body[0].lineno)
    return [handler for node in around for handler in node.handlers if not raises_on(handler)]


def raises_on(handler: ast.ExceptHandler) -> bool:
    """It only looks at the exception and raises: the program does not go on from there."""
    return isinstance(handler.body[-1], ast.Raise)


def _catches(handler: ast.ExceptHandler, raised: ast.Raise) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {_name(item) for item in caught}
    return bool(names & {"Exception", "BaseException"}) or bool(names & set(_kinds(raised)))


def _kinds(raised: ast.Raise) -> Iterator[str]:
    """The name of the exception, and of those that it is a kind of, as far as Python itself knows it."""
    what = raised.exc.func if isinstance(raised.exc, ast.Call) else raised.exc
    name = _name(what) if what is not None else ""
    yield name
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        yield from (kind.__name__ for kind in known.__mro__)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
