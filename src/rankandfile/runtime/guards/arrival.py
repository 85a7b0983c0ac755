"""What each rank leaves in the store when it arrives at a guard: the testimony that a survey reads.

One key per rank, written over and over, so it needs no clearing. It says where the rank is, in every one of its
threads, and which process it is.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rankandfile.runtime.guards.membership import Members


@dataclass(frozen=True)
class Arrival:
    """One thread of one rank at one guard."""

    key: str
    group: str
    kind: str
    name: str
    number: int
    """How often this rank used the guard before."""
    site: str
    step: str
    thread: str
    at: float
    how: str = "waiting"
    """`waiting`, `working` (inside a solo), `failed: ...` or `left`."""

    def words(self) -> str:
        """`agree 'stop' (trainer.py:61), step 3`."""
        name = "" if self.name == self.site else f" {self.name!r}"
        return f"{self.kind}{name} ({self.site})" + (f", step {self.step}" if self.step else "")


@dataclass(frozen=True)
class Process:
    """Which process a rank is, so that others on its host can see whether it lives."""

    pid: int
    host: str
    started: str


_here: dict[int, list[Arrival]] = {}
_lock = threading.Lock()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _here.clear()
    _me.cache_clear()


os.register_at_fork(after_in_child=_after_fork)


def arrive(members: Members, arrival: Arrival) -> None:
    """Tell the store where this thread now is, together with the other threads of the process."""
    with _lock:
        _here.setdefault(threading.get_ident(), []).append(arrival)
        _tell(members, [one for stack in _here.values() for one in stack])


def gone_on() -> None:
    """This thread is past its innermost guard; the store hears of it with the next arrival."""
    thread = threading.get_ident()
    with _lock:
        stack = _here.get(thread, [])
        if stack:
            stack.pop()
        if not stack:
            _here.pop(thread, None)


def tell_end(members: Members, arrival: Arrival) -> None:
    """Tell the store that this rank failed there, or left; it holds until the rank arrives anywhere."""
    with _lock:
        _tell(members, [*(one for stack in _here.values() for one in stack), arrival])


def _tell(members: Members, arrivals: list[Arrival]) -> None:
    members.store.set(_key(members.me), json.dumps({"who": _me(), "at": [vars(one) for one in arrivals]}))


def read(members: Members, rank: int) -> tuple[Process | None, list[Arrival]]:
    """Where a rank last said that it is; (None, []) if it never said anything."""
    # Reading a key that is not there would wait for it: so put a dash there first.
    found = members.store.compare_set(_key(rank), "", "-")
    try:
        value: Any = json.loads(found)
        return Process(**value["who"]), [Arrival(**one) for one in value["at"]]
    except (ValueError, TypeError, KeyError):
        return None, []


def _key(rank: int) -> str:
    return f"at/{rank}"


@cache
def _me() -> dict[str, Any]:
    return asdict(Process(os.getpid(), _host(), _started(os.getpid()) or ""))


@cache
def _host() -> str:
    """What processes share that can see each other by pid; empty where that cannot be known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """When the process began, in the kernel's words; None if it is gone or only waits to be buried."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def is_gone(process: Process) -> bool:
    """True only if it is certain: the process was on this host, and is not there any more."""
    return bool(process.host) and process.host == _host() and _started(process.pid) != process.started
