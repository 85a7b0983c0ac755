"""Where the ranks parted: the last call that two cohorts made alike, and where each went from there.

Two ranks of one program make the same calls from the same places, until they part. The verdict names the call at
which that shows; the places from which calls were made can show it earlier, as a call that is made from elsewhere
may look the same to the other ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from rankandfile.model.diagnosis import Cohort, Verdict
from rankandfile.model.ranks import format_ranks, parse_ranks

from .rounds import left_out
from .ways import Made, Way, Ways

#: So many calls from like places, one after the other, are no coincidence of two that are out of step.
_IN_STEP = 4
_TRANSFERS = {"send", "recv", "coalesced"}
_MOST_WITNESSES = 8
_MOST_SEEN = 1024


@dataclass(frozen=True)
class Side:
    """One cohort, by one of its ranks."""

    ranks: str
    rank: int
    way: Way
    """Where it went: its next call, or where it was seen. Empty: it went out of the program, or nothing tells."""
    call: Made | None = None
    seen: bool = False
    """`way` is from a snapshot: it is there, and has made no further call."""


@dataclass(frozen=True)
class Parting:
    before: Way
    """The last call that both made from the same place; empty: none is known."""
    normal: Side
    culprit: Side
    settled: bool
    """Which of the two sides departed is known."""
    exact: bool = True
    """The ranks were in step up to `before`, as far as the recordings tell."""
    own: bool = False
    """Both sides are the same rank: `normal` is what it did there in an earlier round."""


def partings(ways: Ways, verdict: Verdict) -> Iterator[Parting]:
    """Where the evidence shows two ways, the best founded first."""
    culprits = [culprit.rank for culprit in verdict.culprits]
    cohorts = verdict.divergence.cohorts if verdict.divergence else []
    guilty = [cohort for cohort in cohorts if set(culprits) & set(_parsed(cohort.ranks))]
    normal = [cohort for cohort in cohorts if cohort not in guilty]
    if normal:
        guilty = [_of_culprits(ways, cohort, culprits) for cohort in guilty]
    found = list(_told(ways, normal, guilty, cohorts))
    if guilty and not found:
        witnesses = [Cohort(ranks=str(rank)) for rank in _witnesses(verdict, culprits)]
        found = list(_pairs(ways, witnesses, guilty, True))
    if not any(parting.normal.way or parting.culprit.way for parting in found):
        found = [*_own(ways, culprits, cohorts), *found]
    if not cohorts:
        found = list(_awaited(ways, verdict)) or list(_looked_at(ways))
    yield from sorted(found, key=lambda parting: not (parting.before and parting.exact))


def _own(ways: Ways, culprits: list[int], cohorts: list[Cohort]) -> Iterator[Parting]:
    """A rank whose calls nobody else makes, against itself in the round before."""
    calls = [cohort.call for cohort in cohorts if cohort.call is not None]
    at = {(call.file, call.line) for call in calls if call.file is not None and call.line is not None}
    for rank in culprits[:_MOST_WITNESSES]:
        found = left_out(ways.calls(rank), at)
        if found is not None:
            yield Parting(
                before=found.before.way if found.before is not None else (),
                normal=Side(str(rank), rank, found.missing.way, found.missing),
                culprit=Side(str(rank), rank, found.next.way, found.next),
                settled=True,
                own=True,
            )


def _of_culprits(ways: Ways, cohort: Cohort, culprits: list[int]) -> Cohort:
    """What a cohort did is told by one of its ranks: by a culprit, where others are in it too."""
    ranks = [rank for rank in _parsed(cohort.ranks) if rank in culprits]
    told = ways.cited(cohort.call.evidence) if cohort.call is not None else None
    if cohort.call is None or told is None or told[0] in ranks:
        return cohort
    made = ways.calls(told[0])[told[1]]
    for own in ways.calls(ranks[0]):
        if (own.group, own.seq, own.op) == (made.group, made.seq, made.op) and own.seq is not None:
            call = msgspec.structs.replace(cohort.call, evidence=[own.evidence])
            return Cohort(ranks=format_ranks(ranks), call=call)
    return cohort


def _told(ways: Ways, normal: list[Cohort], guilty: list[Cohort], cohorts: list[Cohort]) -> Iterator[Parting]:
    if guilty and normal:
        yield from _pairs(ways, normal, guilty, True)
    elif guilty:
        # A circle: everyone in it is a culprit, and any two of them show where the ways part.
        yield from _pairs(ways, guilty[:1], guilty[1:], False)
    else:
        yield from _pairs(ways, cohorts[:1], cohorts[1:], False)


def _pairs(ways: Ways, normal: list[Cohort], guilty: list[Cohort], settled: bool) -> Iterator[Parting]:
    for other in guilty[:_MOST_WITNESSES]:
        for one in normal[:_MOST_WITNESSES]:
            found = _compare(ways, one, other, settled)
            if found is not None and _comparable(ways, found):
                yield found


def _comparable(ways: Ways, found: Parting) -> bool:
    """Stages of a pipeline send and receive from different places: only those that do so alike can be compared."""
    sides = (found.normal, found.culprit)
    if not any(side.call is not None and side.call.op in _TRANSFERS for side in sides):
        return True
    one, other = ({made.way for made in ways.calls(side.rank) if made.op in _TRANSFERS} for side in sides)
    return not one or not other or one == other


def _awaited(ways: Ways, verdict: Verdict) -> Iterator[Parting]:
    """Those who wait, against those for whom they wait."""
    for wait in verdict.waits[:_MOST_WITNESSES]:
        for one in _parsed(wait.ranks)[:2]:
            for other in _parsed(wait.waits_for)[:2]:
                if one != other:
                    found = _compare(ways, Cohort(ranks=str(one)), Cohort(ranks=str(other)), True)
                    if found is not None and _late(ways, found):
                        yield found


def _looked_at(ways: Ways) -> Iterator[Parting]:
    """Nobody's call shows it: those who were seen in different places, after like calls."""
    seen: dict[Way, list[int]] = {}
    for rank in ways.seen()[:_MOST_SEEN]:
        seen.setdefault(ways.now(rank), []).append(rank)
    cohorts = [Cohort(ranks=format_ranks(ranks)) for way, ranks in seen.items() if way]
    for number, one in enumerate(cohorts[:_MOST_WITNESSES]):
        for other in cohorts[number + 1 : _MOST_WITNESSES]:
            found = _compare(ways, one, other, False)
            if found is not None and _late(ways, found):
                yield found


def _late(ways: Ways, found: Parting) -> bool:
    """Both went their own ways only now. Ranks with different roles did so from the start, and that is no fault."""
    last = [
        side.call is None or side.call is ways.calls(side.rank)[-1] for side in (found.normal, found.culprit)
    ]
    return bool(found.before) and found.exact and all(last)


def _witnesses(verdict: Verdict, culprits: list[int]) -> list[int]:
    """Ranks that wait for the culprits, the direct ones first."""
    found: list[int] = []
    for wait in verdict.waits:
        if set(_parsed(wait.waits_for)) & set(culprits):
            found += _parsed(wait.ranks)
    found += _parsed(verdict.victims)
    return [rank for rank in dict.fromkeys(found) if rank not in culprits][:_MOST_WITNESSES]


def _parsed(ranks: str) -> list[int]:
    try:
        return parse_ranks(ranks)
    except ValueError:
        return []


def _compare(ways: Ways, normal: Cohort, guilty: Cohort, settled: bool) -> Parting | None:
    one, other = _standing(ways, normal), _standing(ways, guilty)
    if one is None or other is None:
        return None
    (rank, at), (odd, there) = one, other
    ours, theirs = ways.calls(rank), ways.calls(odd)
    if not theirs and not ways.now(odd):
        # It left nothing: what it did last is what the others did last.
        before = ours[at - 1].way if 0 < at <= len(ours) else ()
        return Parting(
            before, _side(ways, normal.ranks, rank, ours, at), Side(guilty.ranks, odd, ()), settled
        )
    i, j, exact = _in_step(ours, theirs, at, there)
    # From the last place in step forward: calls on other groups are part of the way too.
    while i + 1 < min(at, len(ours)) and j + 1 < min(there, len(theirs)):
        if not _alike(ours[i + 1], theirs[j + 1]):
            break
        i, j = i + 1, j + 1
    before = ours[i].way if i >= 0 and j >= 0 else ()
    return Parting(
        before=before,
        normal=_side(ways, normal.ranks, rank, ours, i + 1 if exact else at),
        culprit=_side(ways, guilty.ranks, odd, theirs, j + 1 if exact else there),
        settled=settled,
        exact=exact,
    )


def _standing(ways: Ways, cohort: Cohort) -> tuple[int, int] | None:
    """A rank of the cohort, and the position of its call at the divergence; past its last call if it made none."""
    if cohort.call is not None:
        found = ways.cited(cohort.call.evidence)
        if found is not None:
            return found
    for rank in _parsed(cohort.ranks)[:_MOST_WITNESSES]:
        if ways.calls(rank):
            return rank, len(ways.calls(rank))
    ranks = _parsed(cohort.ranks)
    return (ranks[0], 0) if ranks else None


def _side(ways: Ways, ranks: str, rank: int, calls: list[Made], position: int) -> Side:
    if 0 <= position < len(calls):
        return Side(ranks, rank, calls[position].way, calls[position])
    return Side(ranks, rank, ways.now(rank), None, seen=bool(ways.now(rank)))


def _alike(one: Made, other: Made) -> bool:
    same_number = one.group != other.group or one.seq == other.seq
    return one.way == other.way and one.op == other.op and same_number


def _in_step(ours: list[Made], theirs: list[Made], at: int, there: int) -> tuple[int, int, bool]:
    """The latest calls before the divergence at which the two were in step; -1, -1 is before their first.

    Collectives of a common group pair by their number. Pairs that were made from different places are already past
    the parting, and so are a few like ones among them.
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
