"""Links lead nowhere outside of what a person named: a stranger's folder may have some to anywhere on this machine."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from rankandfile.evidence.files.blobs import shown
from rankandfile.model.ledger import Note


class Links:
    """What was named, and the links that were found to lead out of all of it. Links that were named themselves count
    as what they lead to."""

    def __init__(self, named: Iterable[str | Path], follow: bool = False) -> None:
        self._follow = follow
        self._real: list[str] = []
        for path in named:
            try:
                self._real.append(os.path.realpath(path))
            except (OSError, ValueError):
                continue  # nothing can be below it
        self._first = ""
        self._more = 0

    def out(self, path: str | Path) -> bool:
        """Whether this link leads out, and is not to be followed."""
        if self._follow:
            return False
        real = os.path.realpath(path)
        if any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self._real):
            return False
        if self._first:
            self._more += 1
        else:
            self._first = str(path)
        return True

    def notes(self) -> list[Note]:
        """One note for all of them."""
        if not self._first:
            return []
        what = "a link that leads out of what was named; not followed (--follow-links follows)"
        return [
            Note(
                file=shown(self._first),
                where="",
                what=what + (f", and {self._more:,} more such links" if self._more else ""),
            )
        ]

    def ordinary(self, path: Path) -> bool:
        """Whether it is a file that can be opened without waiting, and no link that leads out."""
        try:
            if path.is_symlink() and self.out(path):
                return False
            return stat.S_ISREG(path.stat().st_mode)
        except OSError:
            return False
