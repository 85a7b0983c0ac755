"""Two sources that cannot both be so. It accuses nobody: one of them is older, of another attempt, or wrong."""

from __future__ import annotations

from msgspec import Struct

from rankandfile.reason.words import ranks_words


class Contradiction(Struct, frozen=True):
    ranks: tuple[int, ...]
    what: str
    evidence: tuple[str, ...]
    impossible: bool = False
    """By one of the two the calls of the other cannot all have completed."""

    moved: bool = False
    """They are of one process at two moments, between which it got on."""
    gap_ns: int | None = None
    """How long after the stack the dump was written, of those that `moved`; None: nothing tells."""

    def __str__(self) -> str:
        return f"{ranks_words(self.ranks)}: {self.what} ({' against '.join(self.evidence[:2])})"
