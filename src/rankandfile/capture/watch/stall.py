"""When a job counts as stuck: nothing has moved for longer than it has ever paused.

Where nobody is seen to wait, it may compute, load or compile: that takes more patience, and most of all at the start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankandfile.capture.watch.rings import Seen

#: Seconds without the user's own: at first, at most, and how many times the longest pause so far.
AT_FIRST, AT_MOST, TIMES = 10.0, 120.0, 5.0
#: How many times that, where no call is open; and at least so long before the first call.
IDLE, START = 3.0, 60.0


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

    @property
    def by_hand(self) -> bool:
        """Somebody has said how long is too long."""
        return self._fixed is not None

    def undecided(self) -> None:
        """What was told led to no verdict: tell once more when it has lasted twice as long, if that is long."""
        if self._due is not None:
            self._due = max(2 * self._told_at, self.patience)

    @property
    def patience(self) -> float:
        if self._fixed is not None:
            return self._fixed
        return min(max(AT_FIRST, TIMES * self._longest), AT_MOST)

    def tell(self, now: float) -> None:
        """Somebody else has noticed: the present stall counts as told."""
        if self._due is None:
            self._told_at, self._due = self.still(now), math.inf

    def _enough(self, seen: Sequence[Seen]) -> float:
        if any(one.lives and one.open for one in seen):
            return self.patience
        if self._fixed is None and not any(one.calls for one in seen):
            return max(START, IDLE * self.patience)
        return IDLE * self.patience

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
        lives = any(one.lives for one in seen)
        if not lives or self.still(now) < (self._enough(seen) if self._due is None else self._due):
            return False
        self._told_at, self._due = self.still(now), math.inf
        return True
