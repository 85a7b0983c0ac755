"""The rounds of loops one by one: what a comprehension holds, and what a call in a loop is given each time.

A name in a loop can have many values at once, which says nothing of what belongs together: `new_group(ranks,
group_desc=f"pipe{r}")`. So the loop's variables are held at one item after the other. Only loops over what is wholly
known are gone through.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.index import MOST_SITES
from rankandfile.source.dependence.syntax import COMPREHENSIONS, ancestors
from rankandfile.source.program.modules import Function

from .arithmetic import Plain, Values, alone, each

if TYPE_CHECKING:
    from .values import OneRank

_MOST_CALLERS = 4

Held: TypeAlias = "dict[ast.AST, dict[str, Plain]]"
"""Of a loop, its variables in the round that is looked at."""


class Loop(NamedTuple):
    node: ast.AST
    target: ast.expr
    items: ast.expr
    tests: tuple[ast.expr, ...] = ()


class NotKnown(Exception):
    """What a loop goes over, or which of its rounds come to the place, does not follow from what is known."""


def comprehension(one: OneRank, e: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> Values:
    try:
        found = [_one(one.value(e.elt, frame)) for _ in _rounds(one, _generators(e), frame)]
    except NotKnown:
        return None
    return each(frozenset({tuple(found)}), lambda v: v)


def held_name(one: OneRank, e: ast.Name, function: Function) -> Values:
    """What the variable of a loop that is being gone through holds; None: it is none."""
    if one.held:
        for outer in ancestors(function.module, e):
            if outer in one.held and e.id in one.held[outer]:
                return frozenset({one.held[outer][e.id]})
    return None


def times(one: OneRank, call: ast.Call, function: Function, depth: int = _MOST_CALLERS) -> Iterator[Frame]:
    """The frames in which the call is made, one for each time, with all loops around it held at that round.

    Raises `NotKnown`.
    """
    for frame in _frames(one, function, depth):
        for _ in _rounds(one, _around(call, function), frame):
            yield frame


def _frames(one: OneRank, function: Function, depth: int) -> Iterator[Frame]:
    sites = [] if isinstance(function.node, ast.Module) else one.objects.callers(function)
    if len(sites) >= MOST_SITES or (sites and depth == 0):
        raise NotKnown
    if not sites:
        yield Frame(function)
    for site, bound in sites:
        for outer in times(one, site.call, site.function, depth - 1):
            yield called(function, site.call, outer, bound)


def _rounds(one: OneRank, loops: list[Loop], frame: Frame) -> Iterator[None]:
    if not loops:
        yield
        return
    loop, *inner = loops
    items = _one(one.value(loop.items, frame))
    if not isinstance(items, tuple):
        raise NotKnown
    for item in items:
        with one.holding(loop.node, _stored(loop.target, item)):
            ways = [one.ways(test, frame) for test in loop.tests]
            if any(way == {False} for way in ways):
                continue
            if any(way != {True} for way in ways):
                raise NotKnown
            yield from _rounds(one, inner, frame)


def _stored(target: ast.expr, item: Plain) -> dict[str, Plain]:
    if isinstance(target, ast.Name):
        return {target.id: item}
    if (
        isinstance(target, (ast.Tuple, ast.List))
        and isinstance(item, tuple)
        and len(item) == len(target.elts)
    ):
        return {
            name: value
            for part, value in zip(target.elts, item, strict=True)
            for name, value in _stored(part, value).items()
        }
    raise NotKnown


def _one(values: Values) -> Plain:
    found = alone([values])
    if found is None:
        raise NotKnown
    return found[0]


def _around(call: ast.Call, function: Function) -> list[Loop]:
    """The loops that go over the call, the outermost first."""
    found: list[Loop] = []
    below: ast.AST = call
    for outer in ancestors(function.module, call):
        if outer is function.node:
            break
        if isinstance(outer, (ast.For, ast.AsyncFor)) and any(below is s for s in outer.body):
            found.append(Loop(outer, outer.target, outer.iter))
        elif isinstance(outer, ast.While):
            raise NotKnown
        elif isinstance(outer, COMPREHENSIONS) and not isinstance(below, ast.comprehension):
            found += reversed(_generators(outer))
        below = outer
    return found[::-1]


def _generators(e: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> list[Loop]:
    """Each has its own node, as each is held at an item of its own; names are looked up from inside of `e`."""
    return [Loop(e, each.target, each.iter, tuple(each.ifs)) for each in e.generators]
