"""Two sources that cannot both be so. It accuses nobody: one of them is older, of another attempt, or wrong."""

from __future__ import annotations

from dataclasses import dataclass

from rankandfile.reason.words import ranks_words


@dataclass(frozen=True)
class Contradiction:
    ranks: tuple[int, ...]
    what: str
    evidence: tuple[str, ...]
    impossible: bool = False
    """By one of the two the calls of the other cannot all have completed."""

    def __str__(self) -> str:
        return f"{ranks_words(self.ranks)}: {self.what} ({' against '.join(self.evidence[:2])})"
