"""Waiting for states of other processes: as long as they take, and never for ever."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Whatever the machine is busy with, a process that does what it should has done it within this.
LONG_S = 300.0


def until(true: Callable[[], object], said: Callable[[], str] = str, limit_s: float = LONG_S) -> None:
    """Wait for a state; an error, with what was said until then, where it does not come."""
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, said()
        time.sleep(0.05)
