"""The ways by a call: tests and loops, in the functions that lead to it, upon which a rank goes without it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.syntax import ancestors, spans
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import place_in
from rankandfile.source.program.scopes import own_nodes

from .ways_around import arms_without

Way: TypeAlias = tuple[Function, ast.stmt, Reason]
"""A test or a loop, in its function, and why it may come out differently."""

_LOOPS = (ast.For, ast.While)


def ways_by(search: Search, path: CallPath, depth: int) -> Iterator[Way]:
    """Tests and loops around the call upon which a rank may go without it."""
    for frame in path[depth:]:
        place = search.places.find(frame)
        if place is None or not place.known:
            continue
        for node in own_nodes(place.function):
            asked = _asked(place.function, node, frame.line, own_loops=frame is not path[depth])
            if asked is not None and isinstance(node, ast.stmt):
                reason = search.why(place.function, asked)
                if reason.level != "uniform":
                    yield place.function, node, reason


def _asked(function: Function, node: ast.AST, line: int, *, own_loops: bool) -> ast.expr | None:
    """What says whether one comes by the line, or how often."""
    if isinstance(node, ast.For):
        return node.iter if own_loops and spans(node, line) else None
    if not isinstance(node, ast.If):
        return None
    left_out = any(True for _ in arms_without(function, node, line)) or goes_on(function, node, line)
    return node.test if left_out else None


def goes_on(function: Function, node: ast.If, line: int) -> bool:
    """`continue` in the loop that the line is in, before it."""
    around = next((outer for outer in ancestors(function.module, node) if isinstance(outer, _LOOPS)), None)
    return (
        isinstance(node.body[-1], ast.Continue)
        and around is not None
        and spans(around, line)
        and node.lineno < line
    )


def may_be_theirs(search: Search, way: Way, few: Iterable[int]) -> bool:
    """A test that keeps one of them out for good, by its rank or as it was given no group, tells of no call that was
    left out: it need not belong to that."""
    function, node, reason = way
    if not isinstance(node, ast.If):
        return True
    if settled(search, node.test):
        return False
    return reason.source != "rank_api" or all(search.may_change(node.test, function, rank) for rank in few)


def settled(search: Search, test: ast.expr) -> bool:
    """`self.before is None`, of what an object is given when it is made, and never again."""
    match test:
        case ast.Compare(
            left=ast.Attribute(value=ast.Name(id="self"), attr=name),
            ops=[ast.Is() | ast.IsNot()],
            comparators=[ast.Constant(value=None)],
        ):
            stores = search.objects.index.stores.get(name, ())
            return bool(stores) and all(function.name == "__init__" for function, _ in stores)
    return False


def line_around(
    search: Search,
    ways: list[Way],
    path: CallPath,
    singled: tuple[int, ...],
    kind: str,
) -> FoundLine | None:
    """The one of them that is known to differ, or the only one there is, else the call's own line."""
    known = [way for way in ways if way[2].level in ("varying", "axes")]
    known = known or [way for way in ways if isinstance(way[1], ast.For)] or ways
    if len(known) == 1:
        function, node, reason = known[0]
        return FoundLine(
            place_in(function, node.lineno),
            node.lineno,
            function.module.code_at(node.lineno),
            reason,
            kind=kind,
            singled=singled,
        )
    place = search.places.find(path[-1])
    if place is None or not place.known:
        return None
    story = "What let them go by it the code does not tell."
    return FoundLine(place, path[-1].line, kind=kind, singled=singled, story=story)
