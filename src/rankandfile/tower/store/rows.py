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


@dataclass(frozen=True, kw_only=True)
class Post:
    """What one sender said at one moment. `at` is the tower's clock, `body` as it was sent."""

    job: str
    sender: str
    at: float
    body: bytes


@dataclass(frozen=True, kw_only=True)
class JobRow:
    job: str
    first_at: float
    last_at: float
    senders: int
    told: Told
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
