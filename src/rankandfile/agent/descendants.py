"""Everything that a command starts ends with it, whatever sessions and environments its processes give themselves.

On Linux, a process whose parent ends goes to the nearest one above that has asked for it, and so stays to be found.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
#: How often they are looked for: whoever ends one may find others that it has started meanwhile.
_LOOKS, _PAUSE_S = 200, 0.01


@contextmanager
def ended_with_it() -> Iterator[None]:
    """What is started within, in sessions other than ours, is gone afterwards."""
    if sys.platform != "linux":
        yield
        return
    asked = _is_subreaper()
    _be_subreaper(True)
    before = set(_below_us())
    try:
        yield
    finally:
        for _ in range(_LOOKS):
            left = [pid for pid in _below_us() if pid not in before]
            if not left:
                break
            _end(left)
            time.sleep(_PAUSE_S)
        _be_subreaper(asked)


def _end(processes: list[int]) -> None:
    for pid in processes:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    for pid in processes:
        # Others are their own parents' to take leave of.
        with suppress(OSError):
            os.waitpid(pid, os.WNOHANG)


def _below_us() -> list[int]:
    """Processes below this one that are not of its session."""
    parents: dict[int, int] = {}
    session = os.getsid(0)
    apart: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                # The name before it may hold anything.
                words = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                parents[int(entry.name)] = int(words[1])
                if int(words[3]) != session:
                    apart.add(int(entry.name))
    return [pid for pid in apart if _leads_to(os.getpid(), pid, parents)]


def _leads_to(above: int, pid: int, parents: dict[int, int]) -> bool:
    for _ in range(len(parents)):
        pid = parents.get(pid, 0)
        if pid in (above, 0):
            return pid == above
    return False


def _is_subreaper() -> bool:
    found = ctypes.c_int(0)
    ctypes.CDLL(None).prctl(_GET_SUBREAPER, ctypes.byref(found), 0, 0, 0)
    return bool(found.value)


def _be_subreaper(wanted: bool) -> None:
    ctypes.CDLL(None).prctl(_SET_SUBREAPER, int(wanted), 0, 0, 0)
