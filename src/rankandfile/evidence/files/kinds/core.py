"""A core file: of which process it is, and by which signal that one ended. Its memory is not looked at."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from rankandfile.evidence.exits.ends import End, role_of
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import HEAD, FileKind, Head, Sign
from rankandfile.evidence.text.logs.signals import by_number

#: Program headers, and bytes of notes, that are looked at.
_HEADERS, _NOTES = 64, 1 << 20
_NOTE, _STATUS, _INFO = 4, 1, 3


def recognise(head: Head) -> bool:
    """Of 64 bits, little endian; type: core."""
    return head.data.startswith(b"\x7fELF\x02\x01") and head.data[16:18] == b"\x04\x00"


def decode(path: Path, name: str) -> Decoded:
    try:
        with path.open("rb") as file:
            pid, number = _ended(file, file.read(HEAD))
    except (struct.error, OverflowError, ValueError):
        return Decoded()
    signal = by_number(number) if number else None
    if pid is None or signal is None:
        return Decoded()
    end = End(source=name, kind="core", pid=pid, signal=signal, state="signalled", role=role_of(signal))
    return Decoded(ends=[end])


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


KIND = FileKind("core", (Sign(30, recognise),), decode)
