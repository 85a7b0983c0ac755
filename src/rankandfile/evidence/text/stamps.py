"""Times as log writers print them.

Every time is taken as the line has it, in the line's own zone: which zone that is, and by how much a host's clock
is off, can only be estimated from events that hosts share (see `clock`).
"""

from __future__ import annotations

import calendar
from functools import lru_cache
from typing import NamedTuple

#: Stands in for a year that a line does not have. A leap year, so that 29 February is a date; the assembler puts
#: the real one in its place.
NO_YEAR = 1972

_MONTHS = {
    name: n
    for n, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}


class Stamp(NamedTuple):
    ns: int
    quality: str
    """zoned, wall, no_year, no_date or boot."""


@lru_cache(maxsize=256)
def _day(year: int, month: int, day: int) -> int | None:
    """Seconds since 1970 at the beginning of that day."""
    if not (1970 <= year < 2200 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    return calendar.timegm((year, month, day, 0, 0, 0))


def of_day(clock: str, fraction: str | None) -> int | None:
    """Nanoseconds since midnight of ``08:41:09`` and the digits after its point."""
    hours, minutes, seconds = int(clock[0:2]), int(clock[3:5]), int(clock[6:8])
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return (hours * 3600 + minutes * 60 + seconds) * 1_000_000_000 + int(
        (fraction or "").ljust(9, "0")[:9] or 0
    )


def stamp(
    year: int | None, month: int, day: int, clock: str, fraction: str | None = None, zone: str | None = None
) -> Stamp | None:
    """A date and a time of day; None where they are none. The zone is ``Z``, ``+02:00`` or nothing."""
    midnight, time = _day(NO_YEAR if year is None else year, month, day), of_day(clock, fraction)
    if midnight is None or time is None:
        return None
    ns = midnight * 1_000_000_000 + time
    if year is None:
        return Stamp(ns, "no_year")
    shift = _zone(zone)
    return Stamp(ns, "wall") if shift is None else Stamp(ns - shift, "zoned")


def _zone(zone: str | None) -> int | None:
    if not zone:
        return None
    digits = zone.lstrip("+-").replace(":", "")
    if len(digits) != 4:
        return 0 if zone == "Z" else None
    shift = (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * 1_000_000_000
    return -shift if zone.startswith("-") else shift


#: Digits of seconds, milliseconds, microseconds and nanoseconds since 1970, for some centuries.
_UNITS = {10: 1_000_000_000, 13: 1_000_000, 16: 1_000, 19: 1}


def since_1970(digits: str) -> Stamp | None:
    """A number of collectors': its length tells the unit."""
    unit = _UNITS.get(len(digits))
    return None if unit is None else Stamp(int(digits) * unit, "zoned")


def month(name: str) -> int:
    """1 to 12 of ``Feb``; 0 for what is no month."""
    return _MONTHS.get(name, 0)


def time_of_day(clock: str, fraction: str | None) -> Stamp | None:
    time = of_day(clock, fraction)
    return None if time is None else Stamp(time, "no_date")


def since_boot(seconds: str, fraction: str) -> Stamp | None:
    if len(seconds) > 9:
        return None
    return Stamp(int(seconds) * 1_000_000_000 + int(fraction.ljust(9, "0")[:9]), "boot")
