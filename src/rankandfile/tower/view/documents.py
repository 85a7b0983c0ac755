"""What the API answers. All times are seconds since 1970 by the tower's clock, all ages are seconds."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from rankandfile.model.digest import Finding, Frame

Stands = Literal["moves", "still", "silent", "ended"]
"""still: nothing of it has moved for half a minute. silent: nobody has told of it for a quarter of one."""
CaseState = Literal["waiting", "reading", "read", "unreadable"]


class JobLine(Struct, frozen=True, kw_only=True):
    """A job in the list, by what its nodes said last."""

    job: str
    """Its name in addresses."""
    title: str
    first_at: float
    last_at: float
    stands: Stands
    still_s: float | None
    """For how long nothing of it had moved when it was heard of last."""
    nodes: int
    ranks: int
    world: int | None
    step: int | None
    """Of the rank that is furthest."""
    steps_per_s: float | None
    behind: int | None
    """Collectives that the last rank of a node is behind that node's first, in the worst group."""
    open_s: float | None
    """Age of the oldest call that is not over."""
    gone: int
    findings: int
    cases: int


class Jobs(Struct, frozen=True, kw_only=True):
    jobs: list[JobLine]
    more: bool


class Ranks(Struct, frozen=True, kw_only=True):
    """All ranks, as columns: the n-th element of each is about the same one."""

    rank: list[int]
    host: list[int]
    """Its place in `hosts`."""
    hosts: list[str]
    state: list[str]
    behind: list[int]
    late_s: list[float]
    open_s: list[float | None]
    step: list[int | None]
    quiet_s: list[float | None]
    """Since when it has not been seen to move."""


class Node(Struct, frozen=True, kw_only=True):
    name: str
    at: float
    """When it was last heard of."""
    ranks: int
    ended: int | None
    skew_s: float
    """How far its clock is ahead of the tower's, where that is more than two seconds."""


class GroupLine(Struct, frozen=True, kw_only=True):
    """A process group, at a moment."""

    id: str
    name: str
    description: str
    size: int | None
    members: str
    seen: int
    """Members that were told of."""
    first: int
    """The highest number of a collective that a member has reached."""
    last: int
    """The lowest."""
    behind: int
    late: str
    """Who has not begun a collective that others wait in; as `0-6,8`."""
    late_s: float
    waiting: int
    """Members with an open call."""
    open_s: float | None
    op: str
    """Of the oldest open call."""
    path: list[Frame]


class JobNow(Struct, frozen=True, kw_only=True):
    """One job, at a moment of its history or now."""

    job: str
    title: str
    at: float
    live: bool
    first_at: float
    last_at: float
    stands: Stands
    still_s: float | None
    """For how long nothing of it has moved."""
    world: int | None
    step: int | None
    low_step: int | None
    steps_per_s: float | None
    calls_per_s: float | None
    """Collectives a second, in the group that makes most of them."""
    nodes: list[Node]
    ranks: Ranks
    groups: list[GroupLine]
    missing: str
    """Ranks of the job that nobody told of; as `0-6,8`."""


class RankInGroup(Struct, frozen=True, kw_only=True):
    group: str
    name: str
    last: int
    done: int
    behind: int
    late_s: float
    open_s: float | None
    op: str
    path: list[Frame]


class RankNow(Struct, frozen=True, kw_only=True):
    rank: int
    host: str
    node: str
    state: str
    step: int | None
    phase: str | None
    calls: int
    flight: int
    quiet_s: float | None
    groups: list[RankInGroup]


class Arrival(Struct, frozen=True, kw_only=True):
    """A rank that is the last of its group in most looks."""

    group: str
    rank: int
    looks: int
    """Collectives in which somebody was waited for when the job was looked at."""
    last: int
    """In how many of them it was among the last."""
    share: float
    late_s: float
    """For how long others had waited for it by then: half of the times longer."""
    since: float
    """When it was first seen so, in the time that was looked at."""


class Arrivals(Struct, frozen=True, kw_only=True):
    since: float
    until: float
    arrivals: list[Arrival]


class Moment(Struct, frozen=True, kw_only=True):
    at: float
    step: int | None
    behind: int | None
    open_s: float | None


class History(Struct, frozen=True, kw_only=True):
    first_at: float | None
    last_at: float | None
    moments: list[Moment]


class FindingLine(Struct, frozen=True, kw_only=True):
    at: float
    """When the tower first heard of it."""
    finding: Finding


class Findings(Struct, frozen=True, kw_only=True):
    findings: list[FindingLine]


class CaseLine(Struct, frozen=True, kw_only=True):
    id: str
    at: float
    name: str
    state: CaseState
    told: str


class Cases(Struct, frozen=True, kw_only=True):
    cases: list[CaseLine]


class Taken(Struct, frozen=True, kw_only=True):
    """What was sent is on the tower's disk."""

    job: str
    digests: int
    findings: int


class Share(Struct, frozen=True, kw_only=True):
    path: str
    """To be put after the tower's address. Whoever has it can read this job, and nothing else."""
    until: float


class Health(Struct, frozen=True, kw_only=True):
    ok: bool
    version: str
