"""Whether a rank works, seen from outside: the processor's time that it and its children take, what they read and
write. How far its own output says that it has come is `output.py`'s.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rankandfile.capture.watch.processes import descendants
from rankandfile.capture.watch.rings import Seen

#: Who has run for a moment would have run for so many of them, had it not waited for a processor: on a machine that
#: is full, a thread that only turns round now and then waits long each time as well.
_WOULD_HAVE = 10


class Ran(NamedTuple):
    """Seconds of a thread: on a processor, and ready for one."""

    ran: float = 0.0
    waited: float = 0.0

    def since(self, before: Ran) -> float:
        """For how long it would have run on a machine of its own."""
        ran, waited = self.ran - before.ran, self.waited - before.waited
        return max(min(ran + waited, ran * _WOULD_HAVE), 0.0)


class Use(NamedTuple):
    """What one process and its children have used since they began."""

    at: float
    threads: Mapping[int, Ran]
    below: Mapping[int, Ran]
    bytes: Mapping[int, int]


class Work(NamedTuple):
    """What one rank did between two looks; of its other threads and of those of its children, the busiest counts."""

    rank: int
    pid: int
    over_s: float
    main_s: float
    threads_s: float
    below_s: float
    bytes: int


def use(pid: int) -> Use:
    """Of a process that is gone, nothing."""
    children = descendants(pid)
    below = {tid: ran for child in children for tid, ran in _ran(child).items()}
    moved = {one: _moved(one) for one in (pid, *children)}
    return Use(time.monotonic(), _ran(pid), below, moved)


def uses(seen: Iterable[Seen]) -> dict[int, Use]:
    """By process, of the living. A rank that looks itself, as under `pytest --raf`, is busy with that."""
    return {one.pid: use(one.pid) for one in seen if one.lives and one.pid != os.getpid()}


def works(seen: Iterable[Seen], before: Mapping[int, Use], after: Mapping[int, Use]) -> list[Work]:
    """Of every rank that was there both times."""
    found = []
    for one in seen:
        if one.rank >= 0 and one.pid in before and one.pid in after:
            then, now = before[one.pid], after[one.pid]
            own = {tid: ran.since(then.threads.get(tid, Ran())) for tid, ran in now.threads.items()}
            main = own.pop(one.pid, 0.0)
            below = [ran.since(then.below.get(tid, Ran())) for tid, ran in now.below.items()]
            moved = sum(max(size - then.bytes.get(pid, 0), 0) for pid, size in now.bytes.items())
            times = (now.at - then.at, main, max(own.values(), default=0.0), max(below, default=0.0))
            over_s, main_s, threads_s, below_s = (round(seconds, 2) for seconds in times)
            found.append(Work(one.rank, one.pid, over_s, main_s, threads_s, below_s, moved))
    return found


def _ran(pid: int) -> dict[int, Ran]:
    """By thread."""
    found = {}
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError, ValueError, IndexError):
                ran, waited = (task / "schedstat").read_text().split()[:2]
                found[int(task.name)] = Ran(int(ran) / 1e9, int(waited) / 1e9)
    return found


def _moved(pid: int) -> int:
    """Bytes read and written, of whatever."""
    with contextlib.suppress(OSError, ValueError):
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(("rchar", "wchar")))
    return 0
