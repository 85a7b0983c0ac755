"""The waits that matter: from each rank the shortest way to whoever holds it up.

A rank on a device waits in many calls at once, and almost everybody waits for almost everybody. A picture of all
that shows nothing. What is kept here still ends where the verdict says: in the culprits, in the circle, or in a
call that everyone has joined.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl
from msgspec import Struct

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import Pending

from .roles import Roles


class Chain(Struct, frozen=True):
    """A call, and of those who wait in it and whom it lacks only those on a shortest way."""

    call: int
    """Position in `Waits.pending`."""
    waiting: tuple[int, ...]
    lacking: tuple[int, ...]
    """Empty: everyone has joined, the wait ends in the call itself."""
    known: bool


def chains(facts: Facts, diagnosis: Diagnosis, roles: Roles) -> list[Chain]:
    pending = facts.waits.pending
    circle = circle_of(facts, diagnosis)
    # In a circle nobody is the end of it, and who began it is in it like the others.
    blamed = frozenset[int]() if circle else roles.culprits
    ends = [_lacking(call, blamed, facts.membership.members.get(call.group, [])) for call in pending]
    sinks = circle or roles.culprits
    if not sinks:
        sinks = frozenset(rank for i, call in enumerate(pending) if not ends[i][0] for rank in call.waiting)
    far = _distances(pending, [end for end, _ in ends], sinks)
    out = _of_circle(facts, circle, [end for end, _ in ends])
    for i, call in enumerate(pending):
        end, known = ends[i]
        stuck = sinks - circle - roles.culprits
        by_distance: dict[int, list[int]] = defaultdict(list)
        for rank in call.waiting:
            if rank not in sinks:
                by_distance[far.get(rank, -1)].append(rank)
            elif rank in stuck and not end:
                out.append(Chain(i, (rank,), (), True))
        for distance, ranks in by_distance.items():
            if distance < 0:
                # Held up by something that no verdict names: only what is certain is drawn.
                rest = tuple(rank for rank in end if rank not in ranks) if known else ()
                if rest or not end:
                    out.append(Chain(i, tuple(ranks), rest, known))
            elif nearer := tuple(rank for rank in end if far.get(rank) == distance - 1):
                out.append(Chain(i, tuple(ranks), nearer, known))
    return out


def circle_of(facts: Facts, diagnosis: Diagnosis) -> frozenset[int]:
    """The ranks of the circle, where the first verdict is that there is one."""
    if diagnosis.verdicts[0].cause != "order_inversion":
        return frozenset()
    return next(
        (frozenset(wait_end.ranks) for wait_end in facts.wait_ends if wait_end.kind == "cycle"), frozenset()
    )


def _lacking(call: Pending, blamed: frozenset[int], members: list[int]) -> tuple[tuple[int, ...], bool]:
    """The ranks that the call lacks, and whether that is known."""
    if call.lacking or call.behind:
        # A rank of which only the verdict knows that it is not there belongs to those that are lacking.
        unseen = tuple(rank for rank in call.unknown if rank in blamed)
        return (call.lacking or call.behind) + unseen, True
    # Whoever asks for something else, or is said to hold it up, is what the others wait for.
    guilty = tuple(rank for rank in call.waiting if rank in blamed)
    if call.mismatched and not guilty:
        # It may have got past the call that the others are stuck in.
        guilty = tuple(rank for rank in members if rank in blamed)
    if guilty and len(guilty) < len(call.waiting):
        return guilty, True
    # What is busy elsewhere explains the wait; only otherwise can an unseen member be the reason.
    return (call.unknown, False) if call.unknown and not call.busy else (call.busy, True)


def _distances(
    pending: tuple[Pending, ...], ends: list[tuple[int, ...]], sinks: frozenset[int]
) -> dict[int, int]:
    """How many waits lie between each rank and a sink."""
    held_up_by: dict[int, list[int]] = defaultdict(list)
    for i, end in enumerate(ends):
        for rank in end:
            held_up_by[rank].append(i)
    far = dict.fromkeys(sinks, 0)
    queue, done = list(sinks), set()
    for rank in queue:
        for call in held_up_by[rank]:
            if call not in done:
                done.add(call)
                for waiting in pending[call].waiting:
                    if waiting not in far:
                        far[waiting] = far[rank] + 1
                        queue.append(waiting)
    return far


def _of_circle(facts: Facts, circle: frozenset[int], ends: list[tuple[int, ...]]) -> list[Chain]:
    """In the circle each rank is shown in the oldest of its calls that another one of the circle holds up."""
    if not circle:
        return []
    rows = facts.standing.filter(pl.col("rank").is_in(list(circle)) & pl.col("open_record").is_not_null())
    began = {
        (rank, group): record
        for rank, group, record in rows.select("rank", "group", "open_record").iter_rows()
    }
    oldest: dict[int, tuple[int, int]] = {}
    for i, call in enumerate(facts.waits.pending):
        for rank in circle & set(call.waiting):
            record = call.record if call.slot is None else began.get((rank, call.group))
            if record is not None and circle & set(ends[i]) - {rank}:
                oldest[rank] = min(oldest.get(rank, (record, i)), (record, i))
    together: dict[int, list[int]] = defaultdict(list)
    for rank, (_, index) in sorted(oldest.items()):
        together[index].append(rank)
    return [
        Chain(index, tuple(ranks), tuple(r for r in ends[index] if r in circle and r not in ranks), True)
        for index, ranks in together.items()
    ]
