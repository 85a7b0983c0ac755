"""What a cause has to say about a root: a claim, its evidence, how sure it is, and what would overturn it."""

from __future__ import annotations

from dataclasses import dataclass, field

from rankandfile.model.diagnosis import Alternative, Confidence, Divergence, Location, Missing


@dataclass(frozen=True, kw_only=True)
class Finding:
    cause: str
    confidence: Confidence
    sentence: str
    culprits: tuple[int, ...] = ()
    doing: dict[int, str] = field(default_factory=dict)
    divergence: Divergence | None = None
    location: Location | None = None
    evidence: tuple[str, ...] = ()
    contradicted_by: str = ""
    """What, if it were found, would overturn the finding."""
    alternatives: tuple[Alternative, ...] = ()
    missing: tuple[Missing, ...] = ()
    hang: bool = True
    instead_of: str = ""
    """The cause whose finding this one contains: that one alone would say less."""
    explains: int = -1
    """How many ranks' waits it explains; -1: of all that wait in the end that it is found of."""
