"""A stage that has left a loop in which the others of its pipeline still wait for each other, or is alone still in it.

Sends and receives are in few recordings, and each stage makes others: no two calls can be compared. But where all
stand in one function, and one has come behind a loop that two or more are in a round of, that one went round fewer
times; whoever of the others had as few rounds to go would have left it too, for it waits for nothing behind it. One
that is alone in it tells nothing: whoever takes its sends, or makes its receives, may be behind the loop. There, as of
two, the source must say whose number is its own. Where one alone leaves out items of what it goes over, that test says
so, even if nothing shows that they hang. Nothing of this holds for a loop whose rounds are counted from the
rank's own number, as those of a warm-up are, or in which a round may be left out. And where the one may have come back
early from what the others wait in, further in than the loop, upon its own data, it did: it has gone round as often.
"""

from __future__ import annotations

import ast

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.source.dependence import Reason
from rankandfile.source.effects.loud import messages_of
from rankandfile.source.lines.divergence import ranks_of
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace, place_in
from rankandfile.source.program.scopes import own_nodes

from .filters import filtered_alone
from .left_out import upon
from .pipeline import Stage, loops
from .rounds import counted_by_number, ends_early, leaves_out, of_own_data, said
from .ways_around import ways_around

#: As many others at least say how many rounds there were to go.
_OTHERS = 2


@heuristic(
    "loop of a pipeline",
    "one stage alone has left a loop that the others wait in, or goes round it by its own data",
)
def left_loop(search: Search, verdict: Verdict, stages_seen: list[Stage]) -> FoundLine | None:
    """The line that says how often the one stage goes round a loop, in which it is out of step with all others."""
    concerned = {
        rank for wait in verdict.waits for words in (wait.ranks, wait.waits_for) for rank in ranks_of(words)
    }
    if not verdict.waits:
        concerned = {stage.rank for stage in stages_seen if stage.transfer}
    for place, loop, inside, past in loops(search, stages_seen):
        stages = (*inside, *past)
        counted = counted_by_number(search, place.function, loop.iter, stages)
        served = any(stage.transfer for stage in stages_seen if stage not in stages)
        if served and not _left_its_like(search, place.function, loop, inside, past):
            continue
        around = _gone_around(search, place.function, inside, past)
        if around:
            return _around(place, loop, *around[0], past[0], inside) if len(around) == 1 else None
        filtered = None if counted else _filtered(search, place.function, loop, inside, past)
        if filtered is not None and past[0].rank in concerned:
            return _line(search, place, loop, past[0], stages, left=True, filtered=filtered)
        odd = None if counted or verdict.hang is None else _odd(search, place.function, loop, inside, past)
        if odd is None or odd.rank not in concerned:
            return None
        # A step of one of torch's schedules is all stages' or nobody's: none has a number of its own.
        may_be_meant = counted is None and not all(stage.scheduled for stage in inside)
        if may_be_meant and _at_an_end(odd, stages):
            return None
        return _line(search, place, loop, odd, stages, left=odd in past)
    return None


def _odd(
    search: Search, function: Function, loop: ast.For, inside: list[Stage], past: list[Stage]
) -> Stage | None:
    """The one that went round another number of times than was meant."""
    if leaves_out(search, function, loop):
        # Who left a transfer out in a round has gone round as often as the others, and whom it keeps waiting is not it.
        return None
    if len(past) == 1 and len(inside) >= _OTHERS and all(stage.transfer for stage in inside):
        return past[0]
    alone = [side[0] for side in (inside, past) if len(side) == 1]
    own = [stage for stage in (*inside, *past) if of_own_data(search, function, loop, stage) is not False]
    return own[0] if own in ([one] for one in alone) and of_own_data(search, function, loop, own[0]) else None


def _left_its_like(
    search: Search, function: Function, loop: ast.For, inside: list[Stage], past: list[Stage]
) -> bool:
    """Beside one that serves them: its own data say how often the one went round, and two others still do. Whoever says
    that it is done may have been let go."""
    messages = messages_of(search.program).of
    says = any(
        isinstance(call, ast.Call) and call.lineno > (loop.end_lineno or 0) and call in messages
        for call in own_nodes(function)
    )
    return (
        len(past) == 1
        and len(inside) >= _OTHERS
        and all(stage.transfer for stage in inside)
        and of_own_data(search, function, loop, past[0]) is True
        and not says
    )


def _gone_around(
    search: Search, function: Function, inside: list[Stage], past: list[Stage]
) -> list[tuple[Function, ast.If, Reason]]:
    """Tests upon which the one behind the loop comes back without what the others are in, where these were called from
    the loop."""
    found: dict[tuple[Function, ast.If], Reason] = {}
    for stage in inside if len(past) == 1 and all(stage.transfer for stage in inside) else ():
        places = [search.places.find(frame) for frame in stage.path]
        depth = max(
            (n for n, at in enumerate(places) if at is not None and at.function is function), default=0
        )
        for frame, at in list(zip(stage.path, places, strict=True))[depth + 1 :]:
            if at is not None and at.known:
                tests = ways_around(search, at.function, frame.line, past[0], stage)
                found.update({(at.function, t): reason for t, reason in tests if reason.level == "varying"})
    return [(*where, reason) for where, reason in found.items()]


def _around(
    place: SourcePlace,
    loop: ast.For,
    function: Function,
    test: ast.If,
    reason: Reason,
    odd: Stage,
    others: list[Stage],
) -> FoundLine:
    names, file = format_ranks([stage.rank for stage in others]), function.module.path.rsplit("/", 1)[-1]
    who, are, they = ("rank", "is", "it waits") if len(others) == 1 else ("ranks", "are", "they wait")
    story = (
        f"Rank {odd.rank} has left the loop at {place.at(loop.lineno)}, and {who} {names} {are} still in a round of "
        f"it: rank {odd.rank} may have gone by what {they} in ({file}:{test.lineno})."
    )
    return upon(function, test, reason, odd.rank, story)


def _filtered(
    search: Search, function: Function, loop: ast.For, inside: list[Stage], past: list[Stage]
) -> tuple[Function, ast.expr] | None:
    """By which test the one that has left the loop alone left out items, and no other stage did."""
    if len(past) != 1 or not all(stage.transfer for stage in inside) or leaves_out(search, function, loop):
        return None
    return filtered_alone(search, function, loop, past[0], inside)


def _at_an_end(odd: Stage, stages: tuple[Stage, ...]) -> bool:
    """It is the first stage or the last: a number that goes down or up along the pipeline sets these apart."""
    ranks = [stage.rank for stage in stages]
    return odd.rank in (min(ranks), max(ranks))


def _line(
    search: Search,
    place: SourcePlace,
    loop: ast.For,
    odd: Stage,
    stages: tuple[Stage, ...],
    *,
    left: bool,
    filtered: tuple[Function, ast.expr] | None = None,
) -> FoundLine | None:
    """Where it is said how often the one goes round."""
    others = tuple(stage for stage in stages if stage is not odd)
    ends = ends_early(search, place.function, loop) if left else []
    if len(ends) > 1:
        return None
    where, node = (
        filtered or (place.function, ends[0])
        if filtered or ends
        else said(search, place.function, loop, odd, others)
    )
    text = where.module.code_at(node.lineno)
    found = place_in(where, node.lineno)
    reason = search.why(where, node)
    at = place.at(loop.lineno)
    names = format_ranks([stage.rank for stage in others])
    who, are, have = ("rank", "is", "has") if len(others) == 1 else ("ranks", "are", "have")
    story = (
        f"Rank {odd.rank} has left the loop at {at}, and {who} {names} {are} still in it and wait there."
        if left
        else f"Rank {odd.rank} is still in the loop at {at} and waits there, and {who} {names} {have} left it."
    )
    return FoundLine(
        found,
        node.lineno,
        text,
        reason if reason.level != "uniform" else None,
        kind="fewer_items" if filtered else "left_loop" if left else "stayed_in_loop",
        singled=(odd.rank,),
        story=story,
    )
