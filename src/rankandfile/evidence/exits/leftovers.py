"""What the system leaves of a process that it ended: counters of control groups, core files and where they are put.

A counter says that something in the group was killed for want of memory, perhaps only a data worker: a fact that
explains an end which is known otherwise, and no end by itself. A core file says of which process it is, and by which
signal that one ended; its memory is not looked at.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from rankandfile.evidence.exits import ends as exits
from rankandfile.evidence.exits.leftover_kinds import (
    KILLED,
    MOST,
    is_core,
    is_core_pattern,
    is_memory_counters,
)
from rankandfile.evidence.text.logs.event import clean
from rankandfile.evidence.text.logs.signals import by_number

_HEADERS, _NOTES = 64, 1 << 20
_NOTE, _STATUS, _INFO = 4, 1, 3


def read(path: Path, source: str) -> list[exits.Row]:
    """What the file tells of an end, or nothing. Raises OSError only."""
    with path.open("rb") as file:
        head = file.read(MOST)
        if is_memory_counters(head):
            count = int(KILLED.findall(head)[-1])
            return [exits.row(source, "cgroup", role="fact", error=f"oom_kill {count}")] if count else []
        if is_core_pattern(head, path.name):
            text = clean(head.decode("utf-8", "replace").strip(), 256)
            return [exits.row(source, "core_pattern", role="fact", error=text)]
        return _core(file, head, source) if is_core(head) else []


def _core(file: BinaryIO, head: bytes, source: str) -> list[exits.Row]:
    try:
        pid, number = _ended(file, head)
    except (struct.error, OverflowError, ValueError):
        return []
    signal = by_number(number) if number else None
    if pid is None or signal is None:
        return []
    return [exits.row(source, "core", pid=pid, signal=signal, state="signalled", role=exits.role_of(signal))]


def _ended(file: BinaryIO, head: bytes) -> tuple[int | None, int | None]:
    """Process and signal, from the notes at the file's beginning."""
    (start,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    file.seek(min(start, 1 << 40))
    headers = file.read(size * min(count, _HEADERS))
    pid = signal = None
    for place in range(0, len(headers) - size + 1, max(size, 1)):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", headers, place)
        if kind != _NOTE:
            continue
        file.seek(min(offset, 1 << 40))
        notes = file.read(min(length, _NOTES))
        at = 0
        while at + 12 <= len(notes):
            name, described, note = struct.unpack_from("<III", notes, at)
            body = at + 12 + (name + 3 & ~3)
            if note == _STATUS and signal is None:
                (signal,) = struct.unpack_from("<h", notes, body + 12)
            elif note == _INFO and pid is None:
                (pid,) = struct.unpack_from("<i", notes, body + 24)
            at = body + (described + 3 & ~3)
        break
    return pid, signal
