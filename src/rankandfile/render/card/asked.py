"""How the answer was asked for, as it is typed: commands that go on from there can be pasted."""

from __future__ import annotations

from msgspec import Struct


class Asked(Struct, frozen=True):
    """Without anything: what a reader fills in, who may have asked in another way, or somewhere else."""

    evidence: str = "PATH..."
    """With what says which of it: `dumps/ --attempt 2`."""
    more: str = ""
    """What else decides the answer: `--src train/ --hung`."""
    with_source: bool = False
    page: str = ""
    """Where the page is, once it is written."""
    again: bool = True
    """It can be typed again with an option more."""

    @property
    def fix(self) -> str:
        return f"{self._again('fix')}{'' if self.with_source else ' --src DIR'}"

    @property
    def to_page(self) -> str:
        return self.page or self._again("report")

    @property
    def proofs(self) -> str:
        return f"raf show evidence {self.evidence}"

    def _again(self, command: str) -> str:
        return " ".join(filter(None, ["raf", command, self.evidence, self.more]))
