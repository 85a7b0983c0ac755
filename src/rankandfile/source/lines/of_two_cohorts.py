"""Lines that two cohorts' call paths lead to: the decision between them, or what made the difference in one call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.frameworks import framework_of
from rankandfile.source.dependence import why
from rankandfile.source.files.text import without_comment
from rankandfile.source.flow import Condition
from rankandfile.source.program.places import SourcePlace

from .another_callee import another_callee, at
from .arguments import (
    assigned,
    called_name,
    calls_on,
    loop_order,
    origin,
)
from .branchings import Branching, End, branchings
from .call_paths import OPAQUE, CallPath, Frame, Stop
from .compared_ranks import divergences
from .decision import (
    MOST_ASKED,
    MOST_ROUNDS,
    MOST_SUPPOSED,
    Decision,
    Sides,
    conditions_of,
    decisions,
    ordering_loop,
)
from .divergence import CodeDivergence, Side, ranks_of
from .exception_origin import catcher, handler_around, raised_below
from .filled_collection import filled_upon
from .found_line import FoundLine, Search
from .held_line import innermost
from .made_from import Entry, enters
from .reachability import Reachability
from .through_framework import through_framework

#: Where nobody saw the ranks in step before, nothing more may be supposed of how they came to where they are.
_MOST_UNSEEN = 1
#: Nor where the evidence does not tell what happened.
_MOST_UNDETERMINED = 2
_RECEIVES = {"recv", "irecv", "recv_object_list"}


def diverged(search: Search, verdict: Verdict) -> FoundLine | None:
    """The line at which two cohorts of the verdict went different ways, by the decision that most likely did it."""
    found = list(divergences(search.paths, verdict))
    first = found[0] if found else None
    same = first if first is not None and _from_one_place(first) else None
    if same is None and verdict.divergence is not None and verdict.divergence.kind == "cycle":
        # Of a circle any two that came from one place show in which order each went.
        same = next((divergence for divergence in found if _from_one_place(divergence)), None)
    if same is not None and verdict.family == "arguments":
        return argument(search, verdict, same)
    if same is not None and (ordered := loop_order(search.places, same.culprit.path)) is not None:
        return FoundLine(ordered.place, ordered.line, ordered.text, ordered.reason, same, kind="order")
    if same is not None and verdict.divergence is not None and verdict.divergence.kind == "argument":
        return argument(search, verdict, same)
    best: Decision | None = None
    chosen: CodeDivergence | None = None
    for divergence in found:
        for decision in decisions(search.places, _branchings(search, divergence), _sides(search, divergence))[
            :1
        ]:
            most = _MOST_UNDETERMINED if verdict.cause == "undetermined" else MOST_SUPPOSED
            if decision.weight[0] > (most if divergence.exact else min(most, _MOST_UNSEEN)):
                continue
            if best is None or decision.weight < best.weight:
                best, chosen = decision, divergence
    if best is not None and chosen is not None and best.reason.level == "varying":
        return decided(search, best, chosen)
    for divergence in found:
        # A line that shows why ranks differ comes before a condition of which nothing is known.
        shown = _shown(search, divergence)
        if shown is not None and (best is None or (shown.reason and shown.reason.level == "varying")):
            return shown
    if best is not None and chosen is not None:
        return decided(search, best, chosen)
    if same is None and (shown := in_plain_sight(search, found)) is not None:
        return shown
    if same is not None:
        return argument(search, verdict, same) or out_of_order(search, verdict, same)
    return together(search, verdict) or cited_argument(search, verdict)


def in_plain_sight(search: Search, found: list[CodeDivergence]) -> FoundLine | None:
    """The one decision that stands between the two ways, though nothing shows that it can differ: better than none."""
    for divergence in found:
        if not divergence.exact or divergence.normal.call is None or divergence.culprit.call is None:
            # Where somebody was only seen, other ways may have led there.
            continue
        ways, sides = _branchings(search, divergence), _sides(search, divergence)
        every = [d for d in decisions(search.places, ways, sides) if d.reason.level == "unknown"]
        every = [d for d in every if not d.branching.guessed]
        if not every:
            # Nothing is written there that decides: a call may have raised, if its own code shows upon what.
            thrown = decisions(search.places, ways, sides, raising=True)
            every = [decision for decision in thrown if decision.reason.level == "varying"]
        if not every:
            continue
        nearest = [d for d in every if d.weight[:2] == every[0].weight[:2]]
        if len({d.condition.line for d in nearest}) == 1:
            return decided(search, nearest[0], divergence)
    return None


def _shown(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """What no test of the functions on the way decided."""
    return (
        another_callee(search, divergence)
        or through_framework(search, divergence)
        or filled(search, divergence)
        or caught_outside(search, divergence)
    )


def _from_one_place(divergence: CodeDivergence) -> bool:
    return bool(divergence.normal.path) and divergence.normal.path == divergence.culprit.path


def out_of_order(search: Search, verdict: Verdict, divergence: CodeDivergence) -> FoundLine | None:
    """One line makes the calls on both sides, in two orders, and nothing written before it chooses one."""
    place = innermost(search.places, divergence.culprit.path)
    if place is None or verdict.divergence is None or verdict.divergence.kind != "swapped":
        return None
    return FoundLine(place, place.line, divergence=divergence)


def filled(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """What a loop goes over, or a test asks for, was filled by a decision that differs."""
    for branching in _branchings(search, divergence):
        place = search.places.find(branching.frame)
        if place is None or not place.known or branching.guessed or branching.rounds > MOST_ROUNDS:
            continue
        for condition in conditions_of(place.function, branching):
            decider = filled_upon(search.places, branching.outer, place, condition.node)
            if decider is not None:
                where, upon, reason = decider
                return FoundLine(
                    where, upon.line, without_comment(upon.text), reason, divergence, kind="filled"
                )
            entry = _of_loop(search, place, condition)
            if entry is not None:
                return at(entry, divergence, "filled" if entry.test else "order")
    return None


def _of_loop(search: Search, place: SourcePlace, condition: Condition) -> Entry | None:
    """Where what a loop goes over becomes another thing on one rank than on another."""
    if condition.kind != "for" or not isinstance(condition.node, ast.expr):
        return None
    return enters(search.program, place.function, condition.node)


def caught_outside(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """Nothing written in the function lets a side leave it; but a handler further out would catch an exception."""
    sure = [branching for branching in _branchings(search, divergence) if not branching.guessed]
    for branching in sure:
        place = search.places.find(branching.frame)
        if (
            branching.rounds > min(MOST_ROUNDS, sure[0].rounds)
            or branching.after is None
            or branching.culprit != "end"
        ):
            continue
        if place is None or not place.known or any(True for _ in conditions_of(place.function, branching)):
            continue
        caught = catcher(search.places, branching.outer, None)
        if caught is None:
            continue
        where, handler = caught
        text = without_comment(where.module.lines[handler.lineno - 1].strip())
        condition = Condition(handler.lineno, text, "except", "not raised", "raised", handler)
        reason = search.why(where, condition)
        if reason.level == "varying":
            return FoundLine(where, handler.lineno, text, reason, divergence, kind="caught")
    return None


def together(search: Search, verdict: Verdict) -> FoundLine | None:
    """Everyone was seen on one line, which waits for somebody else: each waits for what another does after it."""
    ranks = search.paths.seen()
    places = {(p.path, p.line): p for r in ranks if (p := innermost(search.places, search.paths.now(r)))}
    if len(ranks) < 2 or len(places) != 1 or not all(search.paths.now(rank) for rank in ranks):
        return None
    place = next(iter(places.values()))
    if verdict.family == "arguments":
        made = origin(search.places, search.paths.now(ranks[0]), verdict.cause)
        return FoundLine(made.place, made.line, made.text, made.reason, kind="argument") if made else None
    if not any(called_name(call) in _RECEIVES for call in calls_on(place, Stop(place.line))):
        return None
    return FoundLine(place, place.line, kind="held")


def cited_argument(search: Search, verdict: Verdict) -> FoundLine | None:
    """Nothing tells whose argument is another one, but the verdict names the call."""
    cited = search.paths.cited(verdict.evidence) if verdict.family == "arguments" else None
    if cited is None:
        return None
    rank, position = cited
    made = origin(search.places, search.paths.calls(rank)[position].path, verdict.cause)
    return FoundLine(made.place, made.line, made.text, made.reason, kind="argument") if made else None


def argument(search: Search, verdict: Verdict, divergence: CodeDivergence) -> FoundLine | None:
    """The line that gave one side another argument, in a call that both made from one place."""
    found = origin(search.places, divergence.culprit.path, verdict.cause)
    if found is None:
        return None
    return FoundLine(found.place, found.line, found.text, found.reason, divergence, kind="argument")


def decided(search: Search, decision: Decision, divergence: CodeDivergence) -> FoundLine:
    """The line of a decision or, where that only asks what an earlier line made, of that one."""
    condition, place = decision.condition, decision.place
    text = without_comment(condition.text)
    found = FoundLine(place, condition.line, text, decision.reason, divergence, decision, kind="decision")
    if condition.kind == "except":
        return replace(found, kind="caught")
    order = ordering_loop(place, condition)
    if order is not None:
        # Which item comes first decides, and the loop says which.
        text = without_comment(place.module.lines[order.lineno - 1].strip())
        reason = why(search.program, place.function, order.iter)
        return replace(found, line=order.lineno, condition=text, reason=reason)
    items = condition.node
    made = assigned(place.function, items, condition.line) if isinstance(items, ast.Name) else None
    if made is not None and condition.kind == "for":
        # Not the loop decides, but what it goes over.
        text = without_comment(place.module.lines[made.lineno - 1].strip())
        return replace(found, line=made.lineno, condition=text, kind="order")
    decider = filled_upon(search.places, (), place, condition.node)
    if decider is not None and decider[0] is place and decider[1].line < condition.line:
        # The test only asks what an earlier decision left in a list.
        _, upon, reason = decider
        return replace(
            found, line=upon.line, condition=without_comment(upon.text), reason=reason, kind="filled"
        )
    entry = _of_loop(search, place, condition)
    if entry is not None and entry.fills:
        return at(entry, divergence, "filled")
    if entry is not None and entry.function is not place.function:
        file = entry.function.module.path.rsplit("/", 1)[-1]
        text = without_comment(entry.function.module.lines[entry.line - 1].strip())
        return replace(
            found, story=f"What it goes over is cut for each rank at {file}:{entry.line} by `{text}`."
        )
    raised = raised_below(place, condition)
    if raised is None:
        return found
    # The nearest handler may stand in the function itself, or in one further out.
    inside = handler_around(replace(place, line=raised.lineno), raised)
    caught = (
        (place, inside) if inside is not None else catcher(search.places, decision.branching.outer, raised)
    )
    if caught is None:
        outer = [search.places.find(frame) for frame in decision.branching.outer]
        seen = all(frame is not None and frame.known for frame in outer)
        return replace(found, raises=seen and decision.branching.culprit == "end")
    where, handler = caught
    text = without_comment(where.module.lines[handler.lineno - 1].strip())
    return replace(found, place=where, line=handler.lineno, condition=text, kind="caught")


def _sides(search: Search, divergence: CodeDivergence) -> Sides:
    """Of large cohorts some are asked: they are in one because they behave alike."""

    def members(side: Side) -> tuple[int, ...]:
        return (side.rank, *(rank for rank in ranks_of(side.ranks)[:MOST_ASKED] if rank != side.rank))

    return Sides(
        members(divergence.normal),
        members(divergence.culprit),
        lambda rank, test, function: search.one_rank(rank).outcomes(test, function),
    )


def _branchings(search: Search, divergence: CodeDivergence) -> list[Branching]:
    for side in (divergence.normal, divergence.culprit):
        if not side.path and not search.paths.left(side.rank):
            # It made no further call, and nobody saw where it was: it may be anywhere.
            return []
    normal: CallPath | End = qualified(search, divergence.normal.path) or "end"
    culprit: CallPath | End = qualified(search, divergence.culprit.path) or "end"
    return branchings(qualified(search, divergence.before), normal, culprit, Reachability(search.places))


def qualified(search: Search, path: CallPath) -> CallPath:
    """Functions by their full names: two classes of a file may each have a `forward`. A run of a framework's frames is
    one step of the way: what it does between the user's functions is its own business."""
    path = tuple(_through_as_one(path))
    places = [search.places.find(frame) for frame in path]
    return tuple(
        frame._replace(function=place.function.qualname) if place is not None and place.known else frame
        for frame, place in zip(path, places, strict=True)
    )


def _through_as_one(path: CallPath) -> Iterator[Frame]:
    for inside, frames in groupby(path, key=lambda frame: framework_of(frame.file) is not None):
        run = list(frames)
        yield from [run[0]._replace(function=OPAQUE, line=0)] if inside else run
