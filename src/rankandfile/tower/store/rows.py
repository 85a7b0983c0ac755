"""What goes into the store, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a sender's newest digests say in short, for lists."""

    ranks: int
    world: int | None
    low_step: int | None
    high_step: int | None
    open_s: float | None
    """Age of the oldest open call."""
    behind: int | None
    """Collectives that its last rank is behind its first, in the worst of its groups."""
    gone: int
    moved_at: float | None
    """When one of its ranks was last seen to move."""
    ended: int | None
    """The job is over there, with this exit code."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """What a job's reports refer to by an id: a group, or a path."""

    kind: str
    id: str
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Post:
    """What one sender said at one moment, by the tower's clock."""

    job: str
    sender: str
    at: float
    body: bytes


@dataclass(frozen=True, kw_only=True)
class JobRow:
    job: str
    title: str
    first_at: float
    last_at: float
    senders: int
    told: Told
    ended: int
    """How many of its senders have said that it is over."""
    before: tuple[float, int] | None
    """A time a little earlier, and the step by then."""
    findings: int
    cases: int


@dataclass(frozen=True, kw_only=True)
class FindingRow:
    name: str
    at: float
    kind: str
    body: bytes


@dataclass(frozen=True, kw_only=True)
class CaseRow:
    id: str
    job: str
    at: float
    name: str
    state: str
    """`waiting`, `reading`, `read`, `unreadable`."""
    told: str
    """Its verdict in a sentence, or why it could not be read."""


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """What a stretch of the history comes to."""

    at: float
    step: int | None
    behind: int | None
    open_s: float | None
