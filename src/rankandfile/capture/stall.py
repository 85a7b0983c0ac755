"""When a job counts as stuck: nothing has moved for longer than it has ever paused, and somebody waits."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankandfile.capture.rings import Seen

#: Seconds without the user's own: at first, at most, and how many times the longest pause so far.
AT_FIRST, AT_MOST, TIMES = 10.0, 120.0, 5.0


class Stall:
    """Fed with what the rings show, tells once per stall that there is one."""

    def __init__(self, now: float, seconds: float | None = None) -> None:
        self._fixed = seconds
        self._progress: object = None
        self._since = now
        self._longest = 0.0
        self._told_at = 0.0
        self._due: float | None = None
        """Seconds of stillness after which it is told; None for the patience, infinite when it was told."""

    @property
    def told(self) -> bool:
        """The present stall has been told."""
        return self._due is not None

    def undecided(self) -> None:
        """What was told led to no verdict: tell once more when it has lasted twice as long."""
        if self._due is not None:
            self._due = 2 * self._told_at

    @property
    def patience(self) -> float:
        if self._fixed is not None:
            return self._fixed
        return min(max(AT_FIRST, TIMES * self._longest), AT_MOST)

    def still(self, now: float) -> float:
        """Seconds since anything moved."""
        return now - self._since

    def feed(self, now: float, seen: Sequence[Seen]) -> bool:
        """True when the job has just come to count as stuck."""
        progress = [(one.path, one.lives, one.progress) for one in seen]
        if progress != self._progress:
            # Pauses of the start are imports and compiling, and no measure of what comes.
            if self._progress and any(one.calls for one in seen):
                self._longest = max(self._longest, self.still(now))
            self._progress, self._since, self._due = progress, now, None
            return False
        waits = any(one.lives and one.open for one in seen)
        if not waits or self.still(now) < (self.patience if self._due is None else self._due):
            return False
        self._told_at, self._due = self.still(now), math.inf
        return True
