"""Times as log writers print them, and who a rank is on its machine."""

from __future__ import annotations

from datetime import datetime, timezone

PID_BASE = 20_000


def _moment(ns: int) -> datetime:
    return datetime.fromtimestamp(ns // 1_000_000_000, tz=timezone.utc)


def c10(ns: int) -> str:
    """The date of a c10 line: the month has no leading zero, and there is no year."""
    moment = _moment(ns)
    return f"{moment.month}{moment.day:02d} {moment:%H:%M:%S}.{ns % 1_000_000_000:09d}"


def python(ns: int) -> str:
    """Python's logging."""
    return f"{_moment(ns):%Y-%m-%d %H:%M:%S},{ns // 1_000_000 % 1000:03d}"


def stamp(ns: int) -> str:
    return f"{_moment(ns):%Y-%m-%d %H:%M:%S}"


def since_boot(ns: int) -> str:
    """The kernel's own clock; these machines were started the same day."""
    micros = ns // 1000 % 86_400_000_000
    return f"[{micros // 1_000_000:5d}.{micros % 1_000_000:06d}]"


def pid(rank: int) -> int:
    return PID_BASE + rank


def node_name(node: int) -> str:
    return f"node{node:02d}"


def address(node: int) -> str:
    return f"10.1.{node // 250}.{node % 250 + 1}"
