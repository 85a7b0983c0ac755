"""A stage that waits behind all that another is still in the middle of, where that one lacks a message of its.

Who waits for a message says, by the line on which it stands, from whom. Where that one already waits in a call that the
other has not come to, it has done all that comes before. Both go round the loop equally often; so if its own data may
let it leave a round's message out, or come back before all of them, it did so: what the other waits for was never sent.

In: where the stages stand. Out: the test upon which the message is left out.
"""

from __future__ import annotations

import ast

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.syntax import argument, spans
from rankandfile.source.lines.divergence import ranks_of
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import place_in
from rankandfile.source.program.scopes import own_nodes

from .pipeline import Stage, left_message_out
from .rounds import as_often
from .ways_around import skips, ways_around

_RECEIVES = {"recv": 1, "irecv": 1}
"""With the position of the argument that says from whom."""


@heuristic(
    "message left out",
    "who waits in a call that another has not come to, as that one lacks a message of its, left the message out",
)
def left_out_message(search: Search, verdict: Verdict, seen: list[Stage]) -> FoundLine | None:
    if not verdict.hang:
        return None
    stages = {stage.rank: stage for stage in seen}
    past = {
        (rank, other)
        for wait in verdict.waits
        for rank in ranks_of(wait.ranks)
        for other in ranks_of(wait.waits_for)
    }
    owed = [
        (waiter, stages[peer])
        for waiter in stages.values()
        if (peer := _peer(search, waiter)) is not None and (peer, waiter.rank) in past
    ]
    named = left_message_out(verdict)
    if not owed and named in stages:
        # From whom they receive the code does not tell; by the numbers of their calls it is this one that owes them.
        owed = [(waiter, stages[named]) for rank, waiter in stages.items() if (named, rank) in past]
        found = (_test_between(search, waiter, owing) for waiter, owing in owed)
        return next((line for line in found if line is not None), None)
    if len(owed) != 1 or named not in (None, owed[0][1].rank):
        return None
    return _test_between(search, *owed[0])


def _test_between(search: Search, waiter: Stage, owing: Stage) -> FoundLine | None:
    """The one test that lets a round's message be left out, innermost first along the way to where it is waited for."""
    for depth in reversed(range(len(waiter.path))):
        place = search.places.find(waiter.path[depth])
        if place is None or not place.known:
            continue
        function, line = place.function, waiter.path[depth].line
        for loop in _loops_around(function, line):
            if not as_often(search, function, loop, (waiter, owing)):
                return None
            tests = skips(search, function, loop, owing, waiter)
            if tests:
                return _line(function, *tests[0], owing, waiter) if len(tests) == 1 else None
        tests = ways_around(search, function, line, owing, waiter) if _is_alone(waiter, owing, depth) else []
        if tests:
            return _line(function, *tests[0], owing, waiter) if len(tests) == 1 else None
    return None


def _line(function: Function, test: ast.If, reason: Reason, owing: Stage, waiter: Stage) -> FoundLine:
    file = function.module.path.rsplit("/", 1)[-1]
    story = (
        f"Rank {waiter.rank} waits for a message of rank {owing.rank}, which has gone through all that comes before "
        f"its own call, and may have left it out ({file}:{test.lineno})."
    )
    return upon(function, test, reason, owing.rank, story)


def upon(function: Function, test: ast.If, reason: Reason | None, rank: int, story: str = "") -> FoundLine:
    """The test upon which the rank left a message out."""
    module = function.module
    return FoundLine(
        place_in(function, test.lineno),
        test.lineno,
        module.code_at(test.lineno),
        reason,
        kind="left_out_message",
        singled=(rank,),
        story=story,
    )


def _loops_around(function: Function, line: int) -> list[ast.For]:
    """The loops that the line is in, the innermost first."""
    around = [node for node in own_nodes(function) if isinstance(node, ast.For) and spans(node, line)]
    return sorted(around, key=lambda node: -node.lineno)


def _is_alone(waiter: Stage, owing: Stage, depth: int) -> bool:
    """It is in a function there that the other one is not in, or has come back from."""
    return waiter.path[:depth] != owing.path[:depth] or waiter.path[depth][:2] != owing.path[depth][:2]


def _peer(search: Search, stage: Stage) -> int | None:
    """From whom it receives where it stands; None: that is not to be told."""
    place = search.places.find(stage.path[-1])
    if place is None or not place.known or stage.transfer not in ("recv", "_wait_batch_p2p"):
        return None
    calls = [
        node
        for node in place.function.nodes
        if isinstance(node, ast.Call)
        and spans(node, place.line)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _RECEIVES
    ]
    given = argument(calls[0], _RECEIVES[calls[0].func.attr], "src") if len(calls) == 1 else None  # type: ignore[attr-defined]
    values = search.one_rank(stage.rank).of(given, place.function) if given is not None else None
    found = [value for value in values or () if isinstance(value, int)]
    return found[0] if len(found) == 1 else None
