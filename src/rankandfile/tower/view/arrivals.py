"""Who is last, time and again: slow is another finding than stuck.

A look counts a collective once, however long it stands there: a rank that never comes is late for one, and one that is
always late is late for many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from rankandfile.tower.view.documents import Arrival
from rankandfile.tower.view.lag import Place

#: Less is told of nobody: with two ranks, one of them is last every other time.
LEAST_LOOKS, LEAST_SHARE, LEAST_LATE_S = 5, 0.6, 0.02


@dataclass(frozen=True, kw_only=True)
class Late:
    """At one look: who had not come to a collective that others waited in."""

    at: float
    group: str
    number: int
    by: Mapping[int, float]
    """Rank -> seconds that it was late by then, at least."""


@dataclass
class _Record:
    times: list[float] = field(default_factory=list)
    late_s: list[float] = field(default_factory=list)


def late_at(at: float, groups: Mapping[str, Sequence[Place]]) -> list[Late]:
    """Where most of a group has not come yet, nobody is the last: these looks are left out."""
    found = []
    for group, places in groups.items():
        late = {place.digest.rank: place for place in places if place.late_s >= LEAST_LATE_S}
        if late and len(late) * 2 <= len(places):
            number = max(place.late_for for place in late.values())
            by = {rank: place.late_s for rank, place in late.items()}
            found.append(Late(at=at, group=group, number=number, by=by))
    return found


def arrivals(looks: Sequence[Sequence[Late]]) -> list[Arrival]:
    """Who was among the last in most of the looks in which anybody was waited for; the worst first."""
    found = []
    for group in sorted({late.group for look in looks for late in look}):
        seen: dict[int, Late] = {}
        for look in sorted(looks, key=lambda look: look[0].at if look else 0.0):
            for late in look:
                if late.group == group:
                    seen[late.number] = late
        if len(seen) < LEAST_LOOKS:
            continue
        records: dict[int, _Record] = {}
        for late in seen.values():
            for rank, seconds in late.by.items():
                record = records.setdefault(rank, _Record())
                record.times.append(late.at)
                record.late_s.append(seconds)
        for rank, record in records.items():
            share = len(record.times) / len(seen)
            if share >= LEAST_SHARE:
                found.append(
                    Arrival(
                        group=group, rank=rank, looks=len(seen), last=len(record.times),
                        share=round(share, 3), late_s=round(median(record.late_s), 3),
                        since=min(record.times),
                    )
                )  # fmt: skip
    return sorted(found, key=lambda one: (-one.late_s * one.share, one.group, one.rank))
