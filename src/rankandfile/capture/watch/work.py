"""Whether a rank works, seen from outside: the processor's time that it and its children take, what they read and
write, and how far its own output says that it has come.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankandfile.capture.watch.processes import descendants
from rankandfile.capture.watch.rings import Seen

#: Of a log, its newest bytes.
TAIL = 1 << 16
_RANK = re.compile(r"rank_(\d+)\.")
_COUNT = re.compile(r"(\d+) ?(?:/|of) ?(\d+)(?![/.\d])|(\d+(?:\.\d+)?) ?%")
#: Who counts its own patience gets nowhere.
_WAITS = re.compile(
    r"wait|retr(?:y|ies)|attempt|still|time(?:d )?.?out|heartbeat|alive|lock|poll|sleep", re.IGNORECASE
)


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


def sizes(logs: Iterable[Path]) -> dict[Path, int]:
    """Of the logs that are a rank's own."""
    found = {}
    for log in logs:
        if _RANK.match(log.name):
            with contextlib.suppress(OSError):
                found[log] = log.stat().st_size
    return found


def counted(before: Mapping[Path, int], logs: Sequence[Path], still_s: float) -> dict[int, tuple[str, str]]:
    """Rank -> how far its output said it was, at first and at last, where that went on and has not ended since."""
    found: dict[int, tuple[str, str]] = {}
    for log, size in sizes(logs).items():
        with contextlib.suppress(OSError):
            if time.time() - log.stat().st_mtime > max(5.0, still_s / 2):
                continue
            with log.open("rb") as file:
                start = before.get(log, 0)
                file.seek(max(start if start <= size else 0, size - TAIL))
                text = file.read(TAIL).decode("utf-8", "replace")
            name = _RANK.match(log.name)
            if name is not None and (told := risen(text)) is not None:
                found[int(name[1])] = told
    return found


def risen(text: str) -> tuple[str, str] | None:
    """The first and the last state of a progress bar, or of a line that counts towards a total; None where none is."""
    first: dict[tuple[str, int], tuple[float, str]] = {}
    last: dict[tuple[str, int], tuple[float, str]] = {}
    for line in re.split(r"[\r\n]+", text):
        if _WAITS.search(line):
            continue
        for place, count in enumerate(_COUNT.finditer(line)):
            if count[3] is None and int(count[1]) > int(count[2]):
                continue
            key = "".join(re.findall(r"[A-Za-z]+", line[: count.start()])), place
            value = float(count[3]) / 100 if count[3] else int(count[1]) / max(int(count[2]), 1)
            first.setdefault(key, (value, count[0]))
            last[key] = value, count[0]
    rising = [(first[key][1], last[key][1]) for key in first if last[key][0] > first[key][0]]
    # Of a bar with both, the numbers say more than the percents.
    return max(rising, key=lambda pair: "%" not in pair[1], default=None)
