"""The environment variables that turn what runs inside a job off. Read once: a job does not change its mind."""

from __future__ import annotations

import os
from functools import cache

_OFF = {"0", "off", "no", "false"}


@cache
def guards_on() -> bool:
    """False where `RAF_GUARDS=0` or `RAF=0` removes all guards."""
    return not any(os.environ.get(name, "").strip().lower() in _OFF for name in ("RAF_GUARDS", "RAF"))


@cache
def recorder_on() -> bool:
    """False where `RAF_RECORDER=0` or `RAF=0` turns the recorder off."""
    return not any(os.environ.get(name, "").strip().lower() in _OFF for name in ("RAF_RECORDER", "RAF"))


@cache
def guards_timeout() -> float | None:
    """Seconds from `RAF_GUARDS_TIMEOUT`; None to wait as long as the job's own groups do."""
    try:
        seconds = float(os.environ.get("RAF_GUARDS_TIMEOUT", ""))
    except ValueError:
        return None
    return seconds if seconds > 0 else None
