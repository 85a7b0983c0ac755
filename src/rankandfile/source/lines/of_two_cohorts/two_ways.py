"""The two ways of a divergence, as the flow of the functions knows them: where they part, and who took which."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.frameworks import framework_of
from rankandfile.source.lines.branchings import Branching, End, branchings
from rankandfile.source.lines.call_paths import OPAQUE, CallPath, Frame
from rankandfile.source.lines.decision import MOST_ASKED, Sides
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_of
from rankandfile.source.lines.found_line import Search
from rankandfile.source.lines.reachability import Reachability
from rankandfile.source.program.places import SourcePlaces


def sides_of(search: Search, divergence: CodeDivergence) -> Sides:
    return Sides(
        asked(divergence.normal),
        asked(divergence.culprit),
        lambda rank, test, function: search.one_rank(rank).outcomes(test, function),
        lambda rank, value, function: search.one_rank(rank).of(value, function),
        made_none=divergence.exact and bool(divergence.before),
    )


def asked(side: Side) -> tuple[int, ...]:
    """Of large cohorts some: they are in one because they behave alike."""
    return (side.rank, *(rank for rank in ranks_of(side.ranks)[:MOST_ASKED] if rank != side.rank))


def branchings_of(search: Search, divergence: CodeDivergence) -> list[Branching]:
    """Where the two sides' ways can have parted, the simplest first; none where a side may be anywhere."""
    for side in (divergence.normal, divergence.culprit):
        if not side.path and not search.paths.left(side.rank):
            # It made no further call, and nobody saw where it was: it may be anywhere.
            return []
    normal: CallPath | End = qualified(search.places, divergence.normal.path) or "end"
    culprit: CallPath | End = qualified(search.places, divergence.culprit.path) or "end"
    before = qualified(search.places, divergence.before)
    found = branchings(before, normal, culprit, Reachability(search.places), begins_anew(search, divergence))
    if not divergence.left_out or normal == "end" or culprit == "end":
        return found
    return _come_round(_within(left_behind(before, normal, culprit), before, found))


def left_behind(before: CallPath, due: CallPath, now: CallPath) -> int | None:
    """At which depth a rank has left the statement that led it to its last call, and from which the others made the
    next one. None where it is in that statement still, or where that led the others to no other call."""
    for depth, (then, there, here) in enumerate(zip(before, due, now, strict=False)):
        if then != there or then[:2] != here[:2]:
            return None
        if then.line != here.line:
            return depth
    return None


def _within(depth: int | None, before: CallPath, found: list[Branching]) -> list[Branching]:
    """What lies in that statement: what is decided where the rank has gone since has nothing to do with it."""
    if depth is None:
        return found
    return [one for one in found if one.outer[: depth + 1] == before[: depth + 1]] or found


def _come_round(found: list[Branching]) -> list[Branching]:
    """Who is past the call, and stands before it again, has come round once: that need not be supposed."""
    return [replace(one, rounds=one.rounds - 1) if one.rounds else one for one in found]


@heuristic(
    "a loop begins anew",
    "calls of several sizes, over and over, tell where the loop that makes them begins",
    otherwise=False,
)
def begins_anew(search: Search, divergence: CodeDivergence) -> bool:
    """Whether the normal side's call may be the first of its innermost loop again: a loop that makes one call for each
    of several things, such as a model's parameters, makes them of the same sizes each time it is come to."""
    call = divergence.normal.call
    if call is None or call.shape is None or call.path != divergence.before:
        return False
    made = search.paths.calls(call.rank)
    at = next((n for n, one in enumerate(made) if one.evidence == call.evidence), None)
    if at is None:
        return False
    first = at
    while first and made[first - 1].path == call.path:
        first -= 1
    if not first and made[0].seq != 1:
        # What came before is lost: where the loop began does not show.
        return False
    kinds = [(one.op, one.group, one.shape) for one in made[first : at + 1]]
    period = next((n for n, kind in enumerate(kinds) if n and kind == kinds[0]), 0)
    return (
        period > 1
        and (len(kinds) - 1) % period == 0
        and all(kind == kinds[n % period] for n, kind in enumerate(kinds))
    )


def qualified(places: SourcePlaces, path: CallPath) -> CallPath:
    """Functions by their full names: two classes of a file may each have a `forward`. A run of a framework's frames is
    one step of the way: what it does between the user's functions is its own business."""
    path = tuple(_through_as_one(path))
    found = [places.find(frame) for frame in path]
    return tuple(
        frame._replace(function=place.function.qualname) if place is not None and place.known else frame
        for frame, place in zip(path, found, strict=True)
    )


def _through_as_one(path: CallPath) -> Iterator[Frame]:
    for inside, frames in groupby(path, key=lambda frame: framework_of(frame.file) is not None):
        run = list(frames)
        yield from [run[0]._replace(function=OPAQUE + run[0].function, line=0)] if inside else run
