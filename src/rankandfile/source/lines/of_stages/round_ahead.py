"""Stages that wait in a transfer of the next round, while all others wait for them in a collective of this one.

Whoever has come to the collective has had all messages of the round, and its partners have then made all of theirs. So
a message that is still waited for, earlier in the loop, is of a later round: who waits in it has gone by the
collective. That holds where all stages make as many transfers in a round, as far as the code says: by one schedule,
in loops that none goes round more often, or with more to come of what the others have had; and no other function that
the round comes to makes a transfer that may be left out. And it is said only where the code lets a rank go by the
collective.

In: the stacks of all ranks. Out: the test or the loop upon which the call is left out, else the call's own line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.syntax import outers_within, spans
from rankandfile.source.lines.call_paths import CallPath, Frame, first_unlike
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .pipeline import Stage, all_stages
from .rounds import as_often
from .ways_around import arms_without
from .ways_by import goes_on, line_around, may_be_theirs, settled, ways_by

_TRANSFERS = ("send", "isend", "recv", "irecv", "P2POp", "send_object_list", "recv_object_list")
_LOOPS = (ast.For, ast.While)
_AROUND = (*_LOOPS, ast.If, ast.IfExp, ast.Try, ast.Match)
_Way: TypeAlias = tuple[tuple[Function, int], ...]
"""Functions and lines of these, each called by the one before; the last makes a transfer."""
#: From a transfer up to a function that a rank stands in.
_DEEPEST = 4


@heuristic(
    "a round ahead",
    "who waits for a message of the next round, while all others wait in a collective of this one, went by that",
)
def round_ahead(search: Search, verdict: Verdict) -> FoundLine | None:
    if not verdict.hang or verdict.culprits:
        return None
    stages = all_stages(search)
    ahead = [stage for stage in stages if stage.transfer]
    waiting = [stage for stage in stages if not stage.transfer]
    suspects = {one.rank for one in verdict.suspects}
    if not ahead or len({stage.path for stage in waiting}) != 1 or suspects - {stage.rank for stage in ahead}:
        return None
    theirs = waiting[0].path
    depths = {first_unlike(stage.path, theirs) for stage in ahead}
    depth = depths.pop()
    if depths or depth is None or not all(_in_a_round(search, stage, theirs, depth) for stage in ahead):
        return None
    if not all(_as_many(search, stage, stages, depth) for stage in ahead):
        return None
    if not all(_all_in_the_round(search, stage, theirs, stages, depth) for stage in ahead):
        return None
    ways = [*ways_by(search, theirs, depth)]
    singled = tuple(stage.rank for stage in ahead)
    if not all(may_be_theirs(search, way, singled) for way in ways):
        return None
    return line_around(search, ways, theirs, singled, "round_ahead") if ways else None


def _in_a_round(search: Search, stage: Stage, theirs: tuple[Frame, ...], depth: int) -> bool:
    """Its line comes before theirs, or behind it, in one function, and all come to it; in a loop, if before."""
    mine, other = stage.path[depth], theirs[depth]
    place = search.places.find(mine)
    if place is None or not place.known or mine[:2] != other[:2]:
        return False
    function = place.function
    if not all(_is_for_all(search, function, node) for node in _around(function, mine.line)):
        return False
    if mine.line > other.line:
        return not any(isinstance(node, ast.If) for node in _around(function, other.line))
    around = zip(map(search.places.find, stage.path), stage.path[: depth + 1], strict=False)
    return any(
        isinstance(node, _LOOPS) and (at.function is not function or spans(node, other.line))
        for at, frame in around
        if at is not None and at.known
        for node in _around(at.function, frame.line)
    )


def _around(function: Function, *lines: int) -> list[ast.AST]:
    """The tests, loops and handlers that one of the lines stands in."""
    nodes = (node for node in own_nodes(function) if isinstance(node, _AROUND))
    return [node for node in nodes if any(spans(node, line) for line in lines)]


def _is_for_all(search: Search, function: Function, node: ast.AST) -> bool:
    """What stands in it is come to by all ranks or by none, and by none without the end of it."""
    if isinstance(node, (ast.If, ast.IfExp)):
        return search.why(function, node.test).level == "uniform"
    return not isinstance(node, (ast.Try, ast.Match))


def _as_many(search: Search, stage: Stage, stages: list[Stage], depth: int) -> bool:
    """Whether it makes as many transfers in a round as the others: they cannot have had more than it made. All go
    through the same loops; which of the transfers in them are a stage's, its number alone may say."""
    by_number = False
    for frame in stage.path[depth + 1 :]:
        place = search.places.find(frame)
        if place is None or not place.known:
            return False
        function = place.function
        lines = {frame.line, *(way[0][1] for way in _to_transfers(search, function))}
        for node in _around(function, *lines):
            if isinstance(node, (ast.Try, ast.Match, ast.While)):
                return False
            if isinstance(node, ast.For) and spans(node, frame.line):
                under = any(isinstance(outer, ast.If) for outer in outers_within(function, node))
                if by_number or under or not _same_rounds(search, function, node, stages):
                    return False
        tests = [node for node in own_nodes(function) if isinstance(node, (ast.If, ast.IfExp))]
        around = [node for node in tests if any(_leads_around(function, node, line) for line in lines)]
        if not all(_by_number(search, function, node.test, stages) for node in around):
            return False
        by_number |= any(spans(node, frame.line) for node in around)
    return True


def _all_in_the_round(
    search: Search, stage: Stage, theirs: CallPath, stages: list[Stage], depth: int
) -> bool:
    """Whether nobody leaves out one of the transfers that are made elsewhere in the round: the one that it waits for
    may be such a one."""
    mine, other = stage.path[depth].line, theirs[depth].line
    places = [search.places.find(frame) for frame in stage.path[depth:]]
    on_the_way = [place.function for place in places if place is not None and place.known]
    function = on_the_way[0]
    around = [node for node in _around(function, mine) if isinstance(node, _LOOPS) and spans(node, other)]
    inner = max(around, key=lambda node: node.lineno, default=None)
    ways = [way for way in _to_transfers(search, function) if inner is None or spans(inner, way[0][1])]
    lines = {mine, *(way[0][1] for way in ways)}
    if not all(_is_for_all(search, function, node) for node in _around(function, *lines)):
        return False
    for node in own_nodes(function):
        if isinstance(node, ast.If) and not _is_for_all(search, function, node):
            left_out = {line for line in (*lines, other) if _leads_around(function, node, line)}
            if left_out & lines and left_out != {*lines, other}:
                return False
    further = {step for way in ways for step in way[1:] if step[0] not in on_the_way}
    return all(_never_left_out(search, at, line, stages) for at, line in further)


def _never_left_out(search: Search, function: Function, line: int, stages: list[Stage]) -> bool:
    for node in own_nodes(function):
        if isinstance(node, (ast.If, ast.IfExp)):
            if _leads_around(function, node, line) and not _by_number(search, function, node.test, stages):
                return False
            continue
        alike = isinstance(node, ast.For) and _same_rounds(search, function, node, stages)
        if isinstance(node, _AROUND) and spans(node, line) and not alike:
            return False
    return True


def _same_rounds(search: Search, function: Function, loop: ast.For, stages: list[Stage]) -> bool:
    return as_often(search, function, loop, tuple(stages)) or _more_to_come(search, function, loop)


def _leads_around(function: Function, node: ast.If | ast.IfExp, line: int) -> bool:
    if isinstance(node, ast.IfExp):
        return spans(node, line)
    return (
        any(True for _ in arms_without(function, node, line))
        or spans(node, line)
        or goes_on(function, node, line)
    )


def _by_number(search: Search, function: Function, test: ast.expr, stages: list[Stage]) -> bool:
    """In each round it comes out as in the one before, for every rank."""
    reason = search.why(function, test)
    by_place = reason.level == "uniform" or reason.source == "rank_api" or settled(search, test)
    return by_place or not any(search.may_change(test, function, stage.rank) for stage in stages)


def _more_to_come(search: Search, function: Function, loop: ast.For) -> bool:
    """Behind the loop come more sends or receives, of which the others have had theirs."""
    return any(way[0][1] > (loop.end_lineno or 0) for way in _to_transfers(search, function))


def _to_transfers(search: Search, function: Function) -> Iterator[_Way]:
    """The ways from lines of the function to a send or a receive."""
    for name in _TRANSFERS:
        for site in search.objects.index.calls(name):
            yield from _ways_to(search, ((site.function, site.call.lineno),), function, _DEEPEST)


def _ways_to(search: Search, way: _Way, since: Function, left: int) -> Iterator[_Way]:
    """How one comes to it from a function."""
    function = way[0][0]
    if function is since:
        yield way
        return
    for site, _ in search.objects.callers(function) if left else ():
        yield from _ways_to(search, ((site.function, site.call.lineno), *way), since, left - 1)
