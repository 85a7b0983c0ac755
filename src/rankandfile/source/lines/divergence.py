"""Where the ranks diverged: the last call that two cohorts made alike, and where each went from there.

Two ranks of one program make the same calls from the same places, until they diverge. The verdict names the call at
which that shows; the places from which calls were made can show it earlier, as a call that is made from elsewhere
may look the same to the other ranks.
"""

from __future__ import annotations

from msgspec import Struct

from rankandfile.model.diagnosis import Cohort, Verdict
from rankandfile.model.ranks import parse_ranks

from .call_paths import CallPath, CallPaths, Made

#: So many calls from like places, one after the other, are no coincidence of two that are out of step.
_IN_STEP = 4
MOST_WITNESSES = 8


class Side(Struct, frozen=True):
    """One cohort, by one of its ranks."""

    ranks: str
    rank: int
    path: CallPath
    """Where it went: its next call, or where it was seen. Empty: it went out of the program, or nothing tells."""
    call: Made | None = None
    seen: bool = False
    """`path` is from a snapshot: the rank is there, and has made no further call."""

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(ranks_of(self.ranks)) or (self.rank,)


class CodeDivergence(Struct, frozen=True):
    before: CallPath
    """The last call that both made from the same place; empty: none is known."""
    normal: Side
    culprit: Side
    settled: bool
    """Which of the two sides is out of line is known."""
    exact: bool = True
    """The ranks were in step up to `before`, as far as the recordings tell."""
    left_out: bool = False
    """The culprits are past the call of the others, and have made none since `before`."""

    def other_than(self, side: Side) -> Side:
        return self.normal if side is self.culprit else self.culprit


def ranks_of(ranks: str) -> list[int]:
    try:
        return parse_ranks(ranks)
    except ValueError:
        return []


def waiting_and_missing(verdict: Verdict) -> tuple[set[int], set[int]]:
    """Who waits, and whom they wait for who does not wait in turn."""
    waiting = {rank for wait in verdict.waits for rank in ranks_of(wait.ranks)}
    return waiting, {rank for wait in verdict.waits for rank in ranks_of(wait.waits_for)} - waiting


def ranks_in_words(side: Side) -> str:
    """`rank 3`, `ranks 0-2`."""
    ranks = side.members
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {side.ranks}"


def compare(paths: CallPaths, normal: Cohort, guilty: Cohort, settled: bool) -> CodeDivergence | None:
    """Where the call paths of two cohorts lead away from each other; None where one of them has no known place."""
    one, other = _standing(paths, normal), _standing(paths, guilty)
    if one is None or other is None:
        return None
    (rank, at), (odd, there) = one, other
    ours, theirs = paths.calls(rank), paths.calls(odd)
    if rank != odd:
        ours, at = _with(paths, odd, ours, at)
        theirs, there = _with(paths, rank, theirs, there)
    if not theirs and not paths.now(odd):
        # It left nothing: what it did last is what the others did last.
        before = ours[at - 1].path if 0 < at <= len(ours) else ()
        return CodeDivergence(
            before, _side(paths, normal.ranks, rank, ours, at), Side(guilty.ranks, odd, ()), settled
        )
    i, j, exact = _in_step(ours, theirs, at, there)
    # From the last place in step forward: calls on other groups are on the path too.
    while i + 1 < min(at, len(ours)) and j + 1 < min(there, len(theirs)):
        if not _alike(ours[i + 1], theirs[j + 1]):
            break
        i, j = i + 1, j + 1
    if exact and rank != odd and i >= 0 and j >= 0:
        i += _more_of_its_own(paths, odd, ours[i:at], ours[at:])
        j += _more_of_its_own(paths, rank, theirs[j:there], theirs[there:])
    normal_side = _side(paths, normal.ranks, rank, ours, i + 1 if exact else at)
    culprit_side = _side(paths, guilty.ranks, odd, theirs, j + 1 if exact else there)
    before = ours[i].path if i >= 0 and j >= 0 else ()
    if i >= 0 and j >= 0 and not before:
        before = _of_like_call(ours[i], (culprit_side, normal_side))
    return CodeDivergence(
        before=before, normal=normal_side, culprit=culprit_side, settled=settled, exact=exact
    )


def _with(paths: CallPaths, other: int, made: list[Made], at: int) -> tuple[list[Made], int]:
    """Of these calls those that the other rank has a part in, or makes as well: a call on a group that it is no member
    of, from where it never makes one, is a way of its own. And which of them is the one at the position."""
    concern = {group: paths.has_a_part(other, group) for group in {call.group for call in made}}
    if all(concern.values()):
        return made, at
    theirs = {call.path for call in paths.calls(other)}
    kept = [(n, call) for n, call in enumerate(made) if concern[call.group] or call.path in theirs or n == at]
    return [call for _, call in kept], sum(n < at for n, _ in kept)


def _more_of_its_own(paths: CallPaths, other: int, made: list[Made], then: list[Made]) -> int:
    """How many calls lie up to the divergence, if all are the one that both made before them, on a group that the other
    has no part in, as stages reduce as many gradients as they have: that is no other way, and each comes behind it."""
    if len(made) < 2 or not then or paths.has_a_part(other, made[0].group):
        return 0
    first = made[0]
    own = all(call.path == first.path and call.group == first.group for call in made)
    return len(made) - 1 if own and then[0].group != first.group else 0


def _of_like_call(made: Made, sides: tuple[Side, ...]) -> CallPath:
    """Where a call without frames was made: where one was that is like it in all that is recorded, and unlike the
    other side's."""
    like = [side.path for side in sides if side.call is not None and _kind(side.call) == _kind(made)]
    return like[0] if len(like) == 1 else ()


def _kind(made: Made) -> tuple[int, str, int | None]:
    return made.group, made.op, made.shape


def _standing(paths: CallPaths, cohort: Cohort) -> tuple[int, int] | None:
    """A rank of the cohort, and the position of its call at the divergence; past its last call if it made none."""
    if cohort.call is not None:
        found = paths.cited(cohort.call.evidence)
        if found is not None:
            return found
    for rank in ranks_of(cohort.ranks)[:MOST_WITNESSES]:
        if paths.calls(rank):
            return rank, len(paths.calls(rank))
    ranks = ranks_of(cohort.ranks)
    return (ranks[0], 0) if ranks else None


def _side(paths: CallPaths, ranks: str, rank: int, calls: list[Made], position: int) -> Side:
    if 0 <= position < len(calls):
        made = calls[position]
        if not made.path and position == len(calls) - 1:
            # Some dumps keep no frames. A rank that was seen after its last call was in it, or on its way from it.
            return Side(ranks, rank, paths.now(rank), made, seen=True)
        return Side(ranks, rank, made.path or _further_on(calls, position), made)
    return Side(ranks, rank, paths.now(rank), None, seen=bool(paths.now(rank)))


def _further_on(calls: list[Made], position: int) -> CallPath:
    """Where a rank was that issued a call without frames, such as those of a backward pass, and went on while the
    device waits in it: at the next call that has some."""
    return next((made.path for made in calls[position + 1 :] if made.path), ())


def _alike(one: Made, other: Made) -> bool:
    same_number = one.group != other.group or one.seq == other.seq
    return one.path == other.path and one.op == other.op and same_number


def _in_step(ours: list[Made], theirs: list[Made], at: int, there: int) -> tuple[int, int, bool]:
    """The latest calls before the divergence at which the two were in step; -1, -1 is before their first.

    Collectives of a common group pair by their number. Pairs that were made from different places are already past
    the divergence, and so are a few like ones among them.
    """
    numbered = {
        (made.group, made.seq): place for place, made in enumerate(ours[: at + 1]) if made.seq is not None
    }
    found: tuple[int, int] | None = None
    run, enough = 0, 1
    for place in range(min(there, len(theirs) - 1), -1, -1):
        made = theirs[place]
        mate = numbered.get((made.group, made.seq)) if made.seq is not None else None
        if mate is None or (mate >= at and place >= there):
            continue
        if not _alike(ours[mate], made):
            found, run, enough = None, 0, _IN_STEP
            continue
        found = found or (mate, place)
        run += 1
        if run >= enough:
            break
    if found is not None:
        return (*found, True)
    # Nothing in common before: at their very beginning they were in step, if the recordings reach back to it.
    from_start = (
        bool(ours and theirs) and ours[0].evidence.endswith("#0") and theirs[0].evidence.endswith("#0")
    )
    return -1, -1, from_start
