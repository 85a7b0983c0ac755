"""The ranks that `raf top` shows: those of the processes that were named, or all that can be found here."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from rankandfile.capture.attach import find_ranks
from rankandfile.capture.watch.processes import environment
from rankandfile.capture.watch.rings import Seen, look, rank_of, with_stops
from rankandfile.wire.places import home


class Job:
    """Looked for anew each time: ranks come, and go."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids
        self._before: list[Seen] = []

    def ranks(self) -> list[Seen]:
        """Empty where nobody is found, and nobody was named."""
        found = find_ranks(self._pids) if self._pids else _all()
        self._before = with_stops(found, self._before, time.time())
        return self._before


def _all() -> list[Seen]:
    """Every rank that records for this user, and every process that a launcher has given a rank."""
    base = home(os.environ)
    recorded = [one for folder in (base, *base.glob("*/")) for one in look(folder) if one.lives]
    told = [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and rank_of(environment(int(entry.name))) is not None
    ]
    pids = [one.pid for one in recorded] + told
    return find_ranks(list(dict.fromkeys(pids))) if pids else []
