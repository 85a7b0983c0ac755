"""The job's ranks as they are seen from outside: those that record, those that have not come to, and how they ended."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rankandfile.capture.watch import processes
from rankandfile.capture.watch.endings import Endings
from rankandfile.capture.watch.kernel import Kernel
from rankandfile.capture.watch.rings import Seen, attempt_of, look, rank_of, unrecorded, with_stops

#: How often processes without a ring are looked for, while there may be any.
SEARCH_S = 2.0


class Roster:
    """Of the job that the process `job` has launched and whose ranks record into `rings`."""

    def __init__(self, rings: Path, job: int, kernel: Kernel) -> None:
        self._rings, self._job, self._kernel = rings, job, kernel
        self._endings = Endings()
        self.seen: list[Seen] = []
        """Of the latest attempt."""
        self.codes: dict[int, int] = {}
        """By process, of those that have ended and where it is known; negative for a signal."""
        self.told: dict[str, str] = {}
        """What a rank was started with."""
        self.unreached: dict[int, str] = {}
        """Why a rank cannot record, where that is seen; of what was launched itself, as that of rank -1."""
        self._without: list[Seen] = []
        self._searched = 0.0

    @property
    def local(self) -> int:
        """How many ranks the launcher starts on this node; 0 where no rank was told."""
        told = self.told.get("LOCAL_WORLD_SIZE", "")
        return int(told) if told.isdigit() else 0

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.seen)

    @property
    def attempt(self) -> int:
        return max((one.attempt for one in self.seen), default=0)

    def now(self) -> tuple[Sequence[Seen], Mapping[int, int]]:
        return list(self.seen), dict(self.codes)

    def look(self) -> None:
        recorded = look(self._rings)
        self._search(recorded)
        latest = max((one.attempt for one in recorded), default=0)
        known = {one.rank for one in recorded}
        # A later attempt counts from when it runs, though none of it may have come to record.
        later = [one for one in self._without if one.lives and one.attempt > latest]
        seen = later or recorded + [one for one in self._without if one.rank not in known]
        self.seen = with_stops(seen, self.seen, time.time())
        for one in self.seen:
            # Also who has ended before we first looked, if nobody has asked how.
            if one.lives or ((found := processes.status(one.pid)) and found.started == one.started):
                self._endings.watch(one.pid)
        self._kernel.note(one.pid for one in recorded if one.lives)
        gone = {one.pid for one in self.seen if not one.lives} - self.codes.keys() - {self._job}
        self.codes |= processes.reap(gone)
        for pid in gone - self.codes.keys():
            if (code := self._endings.code(pid)) is not None:
                self.codes[pid] = code

    def _search(self, recorded: Sequence[Seen]) -> None:
        """Ranks that have not come to make a process group, and what the launcher told the ranks."""
        self._without = [one._replace(lives=processes.alive(one.pid, one.started)) for one in self._without]
        now = time.monotonic()
        all_there = self.local and sum(one.lives for one in recorded) >= self.local
        if now - self._searched < SEARCH_S or all_there:
            return
        self._searched = now
        # Not what we have started ourselves to look at them.
        below = {pid: processes.environment(pid) for pid in (self._job, *processes.descendants(self._job))}
        # A launcher may have a rank of its own, that of a node; those that it starts have a local one as well.
        ranks = {pid: env for pid, env in below.items() if "LOCAL_RANK" in env} or below
        without = [one for one in self._without if one.pid in ranks or not one.lives]
        known = {(one.rank, one.attempt) for one in (*recorded, *without)}
        new = unrecorded(
            {pid: env for pid, env in ranks.items() if (rank_of(env), attempt_of(env)) not in known}, ()
        )
        # A shell that starts a rank becomes it: who had nothing against it at first is looked at again.
        unexplained = [(one.rank, one.pid) for one in (*without, *new) if one.rank not in self.unreached]
        for rank, pid in unexplained + [(-1, self._job)] * (not self.unreached):
            if why := processes.unreached(pid, below.get(pid, {})):
                self.unreached[rank] = why
        again = {one.rank for one in new}
        self._without = [one for one in without if one.rank not in again] + new
        if not self.local:
            self.told = next((env for env in ranks.values() if "RANK" in env), self.told)
