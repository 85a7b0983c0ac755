"""Who waits for whom, in calls that are open: what can never end, whatever the ranks do next."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Waits:
    """A rank's thread stands in a call of a group, and has made no other since."""

    rank: int
    group: str
    number: int
    since: float
    sure: bool
    """All that this rank calls is called by this thread, and the thread waits there: it can join nothing else."""


@dataclass(frozen=True)
class Missing:
    """Ranks that wait for others that are gone."""

    group: str
    number: int
    waiting: tuple[int, ...]
    gone: tuple[int, ...]
    since: float


Lasts = Mapping[str, Mapping[int, int]]
"""Group -> rank -> number of its newest call there."""


def not_there(wait: Waits, members: Mapping[str, Sequence[int]], lasts: Lasts) -> list[int]:
    """The members that have not come to the call that a rank waits in."""
    told = lasts.get(wait.group, {})
    return [rank for rank in members.get(wait.group, ()) if told.get(rank, 0) < wait.number]


def missing(
    waits: Sequence[Waits], members: Mapping[str, Sequence[int]], lasts: Lasts, gone: Collection[int]
) -> list[Missing]:
    found: dict[tuple[str, int], list[Waits]] = {}
    lost: dict[tuple[str, int], set[int]] = {}
    for wait in waits:
        away = {rank for rank in not_there(wait, members, lasts) if rank in gone}
        if away:
            found.setdefault((wait.group, wait.number), []).append(wait)
            lost.setdefault((wait.group, wait.number), set()).update(away)
    return [
        Missing(
            group, number, tuple(sorted(one.rank for one in those)), tuple(sorted(lost[group, number])),
            min(one.since for one in those),
        )
        for (group, number), those in found.items()
    ]  # fmt: skip


def cycle(waits: Sequence[Waits], members: Mapping[str, Sequence[int]], lasts: Lasts) -> list[Waits]:
    """Ranks each of which waits for the next, and the last one for the first; empty where there are none."""
    standing = {wait.rank: wait for wait in waits if wait.sure}
    next_of: dict[int, int] = {}
    changed = True
    while changed:
        changed = False
        for rank, wait in list(standing.items()):
            blocked = [other for other in not_there(wait, members, lasts) if other in standing]
            if not blocked:
                del standing[rank]
                changed = True
            else:
                next_of[rank] = blocked[0]
    if not standing:
        return []
    at, path = min(standing), []
    while at not in path:
        path.append(at)
        at = next_of[at]
    return [standing[rank] for rank in path[path.index(at) :]]
