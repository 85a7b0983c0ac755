"""What is known of a dump before it enters a case, and words for times."""

from __future__ import annotations

from msgspec import Struct

_YEAR_2000 = 946_684_800 * 10**9
_YEAR_2100 = 4_102_444_800 * 10**9


class Facts(Struct, frozen=True, kw_only=True):
    source: str
    rank: int | None
    host: str | None = None
    backend: str = ""
    """A process has one recorder for each kind of backend: their files are two parts of one rank's story."""
    version: str = ""
    calls: int = 0
    first_record: int | None = None
    last_record: int | None = None
    first_ns: int | None = None
    """Time of the first call kept."""
    last_ns: int | None = None
    written_ns: int = 0
    """When the file was written; 0 if nothing tells."""
    world: int | None = None
    """Size of the default group, where the dump tells it."""
    timeout_ms: int | None = None
    """The longest timeout of its calls."""
    has_frames: bool = False

    @property
    def timed(self) -> bool:
        """It has calls, made at times that can be."""
        return (
            self.calls > 0
            and self.first_ns is not None
            and self.last_ns is not None
            and _YEAR_2000 <= self.first_ns <= self.last_ns < _YEAR_2100
        )


def duration(nanoseconds: int) -> str:
    """A time span as one would say it: ``21 h 4 min``."""
    seconds = abs(nanoseconds) // 10**9
    if seconds < 1:
        return f"{abs(nanoseconds) / 10**6:.0f} ms"
    for size, unit, below, smaller in (
        (86400, "days", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if seconds >= (2 * size if unit == "days" else size):
            rest = seconds % size // below
            return f"{seconds // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{seconds} s"
