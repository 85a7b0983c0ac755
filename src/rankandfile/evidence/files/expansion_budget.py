"""The account of what expanding archives has cost so far, and who must stop."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from rankandfile.evidence.files.limits import MIB, Limits
from rankandfile.evidence.files.patience import OVER, Patience

_LOOK = 64 * MIB
"""How many bytes are written between two looks at the free disk space."""


class TooMuch(Exception):
    """This member is too large; the next one may be fine. Its text is one line for the person."""


class Stop(TooMuch):
    """The whole file it came from is too large: nothing more is expanded from it."""


class Full(Stop):
    """Nothing more can be expanded from any file."""


def amount(size: int) -> str:
    """A number of bytes as one would say it."""
    value = float(size)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


class ExpansionBudget:
    """What all archives of one loading may still cost, and where their contents are put."""

    def __init__(self, limits: Limits, spool: Path, patience: Patience | None = None) -> None:
        self.limits = limits
        self._patience = patience or Patience(limits.seconds)
        self.full: str | None = None
        self._spool = spool
        self._spent = 0
        self._looked = -_LOOK
        self._files = 0
        self._spooled = 0
        self._allowed = 0
        self._root_size = 0
        self._root_spent = 0

    def count(self) -> None:
        """One more file, folder or member."""
        self._files += 1
        if self._files > self.limits.files:
            raise self._exhausted(f"more than {self.limits.files:,} files (--limit-files allows more)")
        self._in_time()

    def open_root(self, size: int) -> None:
        """An archive on disk begins: all that comes out of it, however deep, is set against its size."""
        self._root_size = size
        self._root_spent = 0

    def allowance(self, size: int) -> int:
        """What so many compressed bytes may expand to."""
        return self.limits.expansion_slack + self.limits.expansion_ratio * size

    def _in_time(self) -> None:
        if self._patience.left() <= 0:
            raise self._exhausted(OVER)

    def spend(self, size: int) -> None:
        self._in_time()
        self._root_spent += size
        self._spent += size
        # A file may hold several members that are too large, and good ones after them.
        if self._root_spent > self.allowance(self._root_size) + 3 * self.limits.expansion_slack:
            raise Stop(self._bomb())
        if self._spent > self.limits.expanded_bytes:
            raise self._exhausted(f"archives expand to more than {amount(self.limits.expanded_bytes)} in all")
        if self._spent - self._looked >= _LOOK:
            self._looked = self._spent
            with suppress(OSError):
                if shutil.disk_usage(self._spool).free < self.limits.free_bytes:
                    raise self._exhausted(
                        f"less than {amount(self.limits.free_bytes)} left on the disk of the spool"
                    )

    def _bomb(self) -> str:
        return f"expands to more than {self.limits.expansion_ratio} times its size, as bombs do"

    def _exhausted(self, why: str) -> Full:
        self.full = why
        return Full(why)

    def metered(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The same pieces, each paid for: what is skipped costs time too."""
        for piece in pieces:
            self.spend(len(piece))
            yield piece

    def spool(self, pieces: Iterable[bytes], compressed: int | None) -> tuple[Path, int]:
        """Write a member to the spool, under a number. Returns the path and the size."""
        allowed, why = self.limits.member_bytes, f"expands to more than {amount(self.limits.member_bytes)}"
        if compressed is not None and self.allowance(compressed) < allowed:
            allowed, why = self.allowance(compressed), self._bomb()
        self._spooled += 1
        path = self._spool / f"{self._spooled:07d}"
        size = 0
        try:
            with path.open("wb") as file:
                for piece in pieces:
                    size += len(piece)
                    if size > allowed:
                        raise TooMuch(why)
                    file.write(piece)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise self._exhausted(f"the spool cannot be written ({error.strerror or error})") from None
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path, size
