"""What the person who starts a tower may decide."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Bounds of one tower. Reaching one is an answer to who sent too much, and nothing else."""

    token: str | None = None
    """What programs send and people sign in with. None: whoever reaches the tower is let in."""
    trust_header: str | None = None
    """A header in which a proxy says who came; believed from `trust_from` alone."""
    trust_from: tuple[str, ...] = ("127.0.0.1", "::1")
    hosts: tuple[str, ...] = ()
    """Names under which clients reach the tower, beside the loopback's; none: any, where there is a token."""
    post_bytes: int = 8 * MIB
    """One post of digests: 100,000 ranks take less."""
    case_bytes: int = 64 * MIB
    """One archive of a case."""
    store_bytes: int = 4096 * MIB
    """Where the store is larger, the oldest history goes first."""
    fine_s: float = 3600.0
    """So long every digest is kept; later, one of each half minute."""
    keep_s: float = 14 * 86400.0
    """So long after its last sign a job is kept, with everything."""
    most_jobs: int = 20_000
    most_findings: int = 1_000
    """Of one job."""
    most_cases: int = 50
    """Of one job."""
    most_labels: int = 100
    """Jobs that /metrics tells by name: those heard of last."""
    most_listeners: int = 2_000
    """Streams of /events at a time."""
