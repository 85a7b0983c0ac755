"""Logs that a service has answered with the newest line first: they are read as they were written.

Loki's `logcli`, and what consoles of clouds export, begin with the last line unless they are asked otherwise. Turned
around, a traceback is a traceback again, and the last words of a rank are its last.
"""

from __future__ import annotations

from itertools import pairwise
from typing import BinaryIO

from .prefixes import peel

#: More than this is read as it stands.
MOST = 64 << 20
_EDGE = 8 << 10
#: Fewer lines than this may stand in any order: several ranks write at once.
_FEWEST = 4


def turned(file: BinaryIO, size: int) -> bytes | None:
    """The lines of the file turned around, where the times of all of them go backwards; None where they do not."""
    file.seek(0)
    beginning = file.read(_EDGE)
    if beginning.rstrip().count(b"\n") < _FEWEST - 1:
        return None
    first = _times(beginning.split(b"\n")[: -1 if size > _EDGE else None])
    if len(first) < _FEWEST or not all(one >= other for one, other in pairwise(first)) or size > MOST:
        return None
    file.seek(max(0, size - _EDGE))
    last = _times(file.read(_EDGE).split(b"\n")[1 if size > _EDGE else 0 :])
    if not last or not first[0] > last[-1] or not all(one >= other for one, other in pairwise(last)):
        return None
    file.seek(0)
    return b"\n".join(reversed(file.read().rstrip(b"\n").split(b"\n"))) + b"\n"


def _times(lines: list[bytes]) -> list[int]:
    """Of all of them; nothing where one has none, such as a line of a traceback, or the date is not told."""
    found: list[int] = []
    for line in lines:
        if not line.strip():
            continue
        time = peel(line.decode("utf-8", "replace")).time
        if time is None or time.quality not in ("wall", "zoned") or (found and time.ns > found[-1]):
            return []
        found.append(time.ns)
    return found
