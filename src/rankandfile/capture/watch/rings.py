"""Ranks of a running job, seen from outside: by their rings, which of them has moved and which has something open; and
those that have none, of a job that does not record, or that have not come to make a process group.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rankandfile.capture.watch.processes import alive, own_address, status, stopped
from rankandfile.capture.watch.ring_files import opened
from rankandfile.wire import layout
from rankandfile.wire.layout import Header, Record

#: Newest records that are looked at; a completion that is seen later than this many calls is no progress.
NEWEST = 64
#: Read at a time.
_BLOCK = 64


class Seen(NamedTuple):
    """One process's ring, at a moment."""

    path: Path
    rank: int
    pid: int
    started: int
    attempt: int
    host: str
    lives: bool
    closed: bool
    """The process ended by itself, and in order."""
    progress: tuple[tuple[int, int, int], ...]
    """Number and end of each of the newest records; equal means that nothing has happened."""
    calls: int
    """Number of the newest record, 0 for none: without what it writes because nothing happens."""
    open: bool
    """The newest call has not been seen to be complete."""
    waits: int = 0
    """Number of the newest call while that is open, else 0."""
    stopped: float = 0.0
    """When it was first seen stopped by a signal (seconds since 1970); 0 for a process that is not."""


def with_stops(now: Iterable[Seen], before: Iterable[Seen], time_s: float) -> list[Seen]:
    """Which processes are stopped, and since when at the latest; `before` is what was seen the last time."""
    known = {(one.pid, one.started): one.stopped for one in before if one.stopped}
    return [
        one._replace(
            stopped=known.get((one.pid, one.started), time_s) if one.lives and stopped(one.pid) else 0.0
        )
        for one in now
    ]


def look(folder: Path) -> list[Seen]:
    """Every ring in the folder that can be read, the latest attempt only; files that cannot are left out."""
    found = [seen for path in sorted(folder.glob("raf-rank*.ring")) if (seen := _look_at(path)) is not None]
    latest = max((seen.attempt for seen in found), default=0)
    return [seen for seen in found if seen.attempt == latest]


def _look_at(path: Path) -> Seen | None:
    try:
        with opened(path) as file:
            head = file.read(layout.HEADER.size)
            if len(head) < layout.HEADER.size or head[:8] != layout.MAGIC:
                return None
            header = Header(*layout.HEADER.unpack(head))
            if header.version != layout.VERSION or not 0 < header.capacity <= 1 << 20:
                return None
            newest = _newest(file.fileno(), header)
    except OSError:
        return None
    calls = [one for one in newest if one[0].kind == layout.CALL]
    is_open = bool(calls) and calls[0][2] == 0 and calls[0][1] != layout.RAISED
    return Seen(
        path,
        header.rank,
        header.pid,
        header.started,
        max(header.attempt, 0),
        own_address(header.pid, header.started) or header.host.split(b"\0")[0].decode("utf-8", "replace"),
        alive(header.pid, header.started),
        header.state == layout.CLOSED,
        tuple((record.number, left, done) for record, left, done in newest),
        newest[0][0].number if newest else 0,
        is_open,
        calls[0][0].number if is_open else 0,
    )


def ended_well(call: int, later: Seen) -> bool:
    """Whether a call that was open is over by now, and did not fail."""
    told = next(((left, done) for number, left, done in later.progress if number == call), None)
    return later.calls > call if told is None else bool(told[1]) and told[0] != layout.RAISED


def _newest(fd: int, header: Header) -> list[tuple[Record, int, int]]:
    """Whole records, the newest first. Pulses take no place among them: they come because nothing happens, and would
    push out one by one what it is told by."""
    found: list[tuple[Record, int, int]] = []
    # The header's number may lag behind by one.
    number = max(header.last + 1, 1)
    oldest = max(number - header.capacity, 0)
    while number > oldest and len(found) < NEWEST:
        last = (number - 1) % header.capacity
        count = min(_BLOCK, last + 1, number - oldest)
        at = header.header_size + (last + 1 - count) * layout.RECORD_SIZE
        block = os.pread(fd, count * layout.RECORD_SIZE, at)
        for place in range(len(block) // layout.RECORD_SIZE - 1, -1, -1):
            one = layout.record_in(block, place * layout.RECORD_SIZE)
            expected = number - count + place + 1
            if one is not None and one[0].kind != layout.PULSE and one[0].number == expected:
                found.append(one)
        number -= count
    return found[:NEWEST]


NO_RING = Path("/nonexistent/none.ring")
#: Under which names launchers tell a process its rank; the first that is there counts.
RANK_NAMES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")


def rank_of(environment: Mapping[str, str]) -> int | None:
    """The global rank that a launcher gave; None for whatever is no number."""
    for name in RANK_NAMES:
        word = environment.get(name, "")
        if word:
            return int(word) if word.isdigit() and len(word) < 8 else None
    return None


def attempt_of(environment: Mapping[str, str]) -> int:
    """How often torchrun had started its ranks before; 0 where nothing tells."""
    word = environment.get("TORCHELASTIC_RESTART_COUNT", "")
    return int(word) if word.isdigit() and len(word) < 8 else 0


def unrecorded(environments: Mapping[int, Mapping[str, str]], known: Collection[int]) -> list[Seen]:
    """One per rank that is not known: the uppermost process, if parents come before children."""
    found: dict[int, Seen] = {}
    for pid, environment in environments.items():
        rank = rank_of(environment)
        if rank is not None and rank not in known and rank not in found:
            found[rank] = without_ring(pid, rank)._replace(attempt=attempt_of(environment))
    return list(found.values())


def without_ring(pid: int, rank: int) -> Seen:
    found = status(pid)
    lives = found is not None and found.state not in "ZX"
    started = found.started if found else 0
    return Seen(NO_RING, rank, pid, started, 0, os.uname().nodename, lives, False, (), 0, False)
