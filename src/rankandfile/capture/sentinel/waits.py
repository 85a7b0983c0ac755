"""Who waits for whom, in calls that are open: what can never end, whatever the ranks do next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rankandfile.capture.sentinel.transfers import Lane


class Open(NamedTuple):
    """A call that is not over, and who must come to it yet."""

    record: int
    """Its number among the calls of its rank."""
    lane: str | Lane
    """The id of the group of a collective; what a send or receive is one of."""
    number: int
    """Among the calls of the lane."""
    needs: tuple[int, ...] = ()
    """Ranks that have not come to it, and without each of which it cannot end; empty where it may end as it is."""

    @property
    def group(self) -> str:
        return self.lane.group if isinstance(self.lane, Lane) else self.lane


@dataclass(frozen=True)
class Waits:
    """A rank's thread stands in a call, and has made no other since."""

    rank: int
    calls: tuple[Open, ...]
    """One of these has to end before the rank goes on: the one that it stands in; several where it waits for some of
    what it has begun, and nothing tells for which."""
    since: float
    sure: bool
    """All that this rank calls is called by this thread, and the thread waits there: it can join nothing else."""


@dataclass(frozen=True)
class Missing:
    """Ranks that wait for others that are gone."""

    call: Open
    """Of the first who waits."""
    waiting: tuple[int, ...]
    gone: tuple[int, ...]
    since: float


class Link(NamedTuple):
    """A rank that waits for the next one of a circle."""

    rank: int
    call: Open
    waits_for: int
    since: float


def missing(waits: Sequence[Waits], gone: Collection[int]) -> list[Missing]:
    found: dict[tuple[str | Lane, int], list[tuple[Waits, Open]]] = {}
    for wait in waits:
        lost = [call for call in wait.calls if gone_of(call, gone)]
        # A collective never ends without one of its members, whatever else the rank may wait for.
        newest = [call for call in wait.calls[-1:] if isinstance(call.lane, str) and call in lost]
        call = next(iter(newest or (lost if len(lost) == len(wait.calls) else [])), None)
        if call is not None:
            found.setdefault((call.lane, call.number), []).append((wait, call))
    return [
        Missing(
            those[0][1],
            tuple(sorted(wait.rank for wait, _ in those)),
            tuple(sorted({rank for _, call in those for rank in gone_of(call, gone)})),
            min(wait.since for wait, _ in those),
        )
        for those in found.values()
    ]


def gone_of(call: Open, gone: Collection[int]) -> list[int]:
    return [rank for rank in call.needs if rank in gone]


def cycle(waits: Sequence[Waits]) -> list[Link]:
    """Ranks each of which waits for the next, and the last one for the first; empty where there are none."""
    standing = {wait.rank: wait for wait in waits if wait.sure}
    next_of: dict[int, Link] = {}
    changed = True
    while changed:
        changed = False
        for rank, wait in list(standing.items()):
            blocked = [
                (call, next((one for one in call.needs if one in standing), None)) for call in wait.calls
            ]
            # What one of its calls may still bring makes it go on.
            if any(other is None for _, other in blocked):
                del standing[rank]
                changed = True
            else:
                call, other = blocked[0]
                assert other is not None
                next_of[rank] = Link(rank, call, other, wait.since)
    if not standing:
        return []
    at, path = min(standing), []
    while at not in path:
        path.append(at)
        at = next_of[at].waits_for
    return [next_of[rank] for rank in path[path.index(at) :]]
