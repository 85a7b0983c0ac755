"""A stage that waits behind all that another is still in the middle of, where that one lacks a message of its.

Who waits for a message says, by the line on which it stands, from whom. Where that one already waits in a call that the
other has not come to, it has done all that comes before. Both go round the loop equally often; so if its own data may
let it leave a round's message out, it did so: what the other waits for was never sent.

In: where the stages stand. Out: the test upon which a round's message is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.syntax import ancestors, argument, spans
from rankandfile.source.files.text import without_comment
from rankandfile.source.lines.divergence import ranks_of
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace
from rankandfile.source.program.scopes import own_nodes

from .pipeline import Stage, stages_of
from .rounds import as_often, asked

_RECEIVES = {"recv": 1, "irecv": 1}
"""With the position of the argument that says from whom."""
_JUMPS = (ast.Continue, ast.Return, ast.Break)


@heuristic(
    "message left out",
    "who waits in a call that another has not come to, as that one lacks a message of its, left the message out",
)
def left_out_message(search: Search, verdict: Verdict) -> FoundLine | None:
    if not verdict.hang or verdict.cause != "undetermined" or verdict.named:
        return None
    stages = {stage.rank: stage for stage in stages_of(search, verdict)}
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
    if len(owed) != 1:
        return None
    waiter, owing = owed[0]
    for place, loop in _loops_around(search, waiter):
        if not as_often(search, place.function, loop, (waiter, owing)):
            return None
        tests = _skips(search, place.function, loop, owing)
        if len(tests) == 1:
            return _line(place.function, *tests[0], owing, waiter)
        if tests:
            return None
    return None


def _line(function: Function, test: ast.If, reason: Reason, owing: Stage, waiter: Stage) -> FoundLine:
    module = function.module
    file = module.path.rsplit("/", 1)[-1]
    return FoundLine(
        SourcePlace(module.path, module, function, test.lineno),
        test.lineno,
        without_comment(module.lines[test.lineno - 1].strip()),
        reason,
        kind="left_out_message",
        singled=(owing.rank,),
        story=f"Rank {waiter.rank} waits for a message of rank {owing.rank}, which has gone through all that comes "
        f"before its own call, and may have left it out ({file}:{test.lineno}).",
    )


def _loops_around(search: Search, stage: Stage) -> Iterator[tuple[SourcePlace, ast.For]]:
    """The loops in which it waits, the innermost first."""
    for frame in reversed(stage.path):
        place = search.places.find(frame)
        if place is None or not place.known:
            continue
        around = [
            node
            for node in own_nodes(place.function)
            if isinstance(node, ast.For) and spans(node, frame.line)
        ]
        yield from ((place, loop) for loop in sorted(around, key=lambda node: -node.lineno))


def _peer(search: Search, stage: Stage) -> int | None:
    """From whom it receives where it stands; None: that is not to be told."""
    place = search.places.find(stage.path[-1])
    if place is None or not place.known or stage.transfer not in ("recv", "_wait_batch_p2p"):
        return None
    calls = [
        node
        for node in ast.walk(place.function.node)
        if isinstance(node, ast.Call)
        and node.lineno <= place.line <= (node.end_lineno or node.lineno)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _RECEIVES
    ]
    given = argument(calls[0], _RECEIVES[calls[0].func.attr], "src") if len(calls) == 1 else None  # type: ignore[attr-defined]
    values = search.one_rank(stage.rank).of(given, place.function) if given is not None else None
    found = [value for value in values or () if isinstance(value, int)]
    return found[0] if len(found) == 1 else None


def _skips(search: Search, function: Function, loop: ast.For, owing: Stage) -> list[tuple[ast.If, Reason]]:
    """Tests in the loop upon which a round goes by without all that comes in it, by data that may be a rank's own."""
    found = []
    for node in ast.walk(loop):
        if not isinstance(node, ast.If) or node.orelse or _in_another(function, node, loop):
            continue
        where = SourcePlace(function.module.path, function.module, function, node.lineno)
        reason = search.why(where, asked(function, node.test))
        ways = search.one_rank(owing.rank).outcomes(node.test, function)
        # A jump leaves out what comes behind the test; without one, it is what stands inside that may be left out.
        leaves_out = isinstance(node.body[-1], _JUMPS)
        if leaves_out in ways and reason.level != "uniform" and reason.source != "rank_api":
            found.append((node, reason))
    return found


def _in_another(function: Function, node: ast.AST, loop: ast.For) -> bool:
    """A loop further in: to leave one of its rounds is not to leave one of this."""
    for outer in ancestors(function.module, node):
        if outer is loop:
            return False
        if isinstance(outer, (ast.For, ast.While)):
            return True
    return True
