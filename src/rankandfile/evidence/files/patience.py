"""How long files may take: each by itself, those of one source together, and the whole load.

A few bytes can keep a decoder busy for as long as it is let, and an archive holds thousands of such files. So what a
file takes beyond any real one is put to the account of where it came from: once much is on it, files get less time,
and then those of that source none. Processor time counts, not the clock: on a busy machine, or a slow disk, an honest
file takes long and costs no more.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict

#: Processor time of one file, and a share by size: real files are far below both.
SECONDS = 10.0
SECONDS_PER_MEGABYTE = 1.0
#: Shares of it: what goes on no account, and what files get once time is lost.
_USUAL, _IMPATIENT = 0.05, 0.1
#: Times it: lost time after which files get less, those of the same source get none, and no file gets any.
_LESS, _NONE_OF_SOURCE, _NONE = 3, 6, 18
#: A file that ends its process costs the start of the next, too.
_START = 0.5

OVER = "the time for reading is over (--limit-seconds gives more)"
LATE = f"not read: {OVER}"


class Patience:
    """The accounts of one load. For several threads."""

    def __init__(self, seconds: float, of_a_file: float = SECONDS) -> None:
        self._of_a_file = of_a_file
        self._until = time.monotonic() + seconds
        self._lost: defaultdict[str, float] = defaultdict(float)
        self._lock = threading.Lock()

    def left(self) -> float:
        """Seconds that the whole load may still take, by the clock."""
        return max(0.0, self._until - time.monotonic())

    def refusal(self, name: str) -> str:
        """Why this file is not even tried; empty if it is."""
        if self.left() <= 0:
            return LATE
        with self._lock:
            if (
                self._lost[_source(name)] > _NONE_OF_SOURCE * self._of_a_file
                or sum(self._lost.values()) > _NONE * self._of_a_file
            ):
                return "not read: too many files beside it took longer than any real file"
        return ""

    def allowed(self, size: int) -> float:
        """Processor seconds for a file of this size."""
        with self._lock:
            impatient = sum(self._lost.values()) > _LESS * self._of_a_file
        return self._of_a_file * (_IMPATIENT if impatient else 1) + SECONDS_PER_MEGABYTE * size / 1e6

    def took(self, name: str, size: int, seconds: float, died: bool = False) -> None:
        """A file has taken so much processor time, and its process has died over it or has not."""
        lost = seconds - _USUAL * self._of_a_file - SECONDS_PER_MEGABYTE * size / 1e6 + _START * died
        if lost > 0:
            with self._lock:
                self._lost[_source(name)] += lost


def _source(name: str) -> str:
    """The archive, or the folder, that a file lies in."""
    archive, inside, _ = name.partition("!/")
    return archive if inside else name.rpartition("/")[0]
