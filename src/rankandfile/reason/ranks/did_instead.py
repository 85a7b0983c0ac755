"""What one rank did instead of joining, as its stack, its log and its exit status tell it."""

from __future__ import annotations

from msgspec import Struct

from rankandfile.model.diagnosis import Alternative, Confidence, Location
from rankandfile.reason.facts import Facts

from .activity import CodePlace


class Story(Struct, frozen=True, kw_only=True):
    cause: str
    confidence: Confidence
    doing: str
    """'killed by SIGKILL, out of memory': what stands after the rank's name and a colon."""
    evidence: tuple[str, ...]
    location: Location | None = None
    alternatives: tuple[Alternative, ...] = ()
    contradicted: tuple[str, ...] = ()
    """What another source says that does not fit."""
    absence: bool = False
    """It rests on what is not there: no stack, no line."""
    by_a_line: bool = False
    """Its log alone tells it, by words that any program may use: no proof that the rank is held up or gone."""


class AskedRank(Struct, frozen=True):
    """The rank that is asked about, and what the calls say of it."""

    rank: int
    proved: bool
    """Dumps or counters prove that it has not joined the call that others wait in."""
    waiting: tuple[int, ...] = ()
    """Who waits in that call."""


def location_of(place: CodePlace | None) -> Location | None:
    if place is None:
        return None
    return Location(file=place.file, line=place.line, function=place.function)


def world_of(facts: Facts) -> int:
    """Number of ranks of the job: as it is told, or at least as many as anything tells of."""
    accounts = facts.accounts
    seen = {*facts.case.ranks_seen, *accounts.logged, *accounts.ends, *accounts.of_rank, *facts.hosts}
    return max(facts.case.world_size or 0, max(seen, default=-1) + 1)
