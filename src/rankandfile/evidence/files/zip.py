"""Zip archives, for files that strangers made: by the directory at the end, or without it in order."""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from rankandfile.evidence.files.inflate import PIECE, Inflate

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_TAIL = 22 + 0xFFFF

_METHODS = {8: "deflate", 12: "bzip2", 93: "zstd"}


class Member(NamedTuple):
    name: str
    kind: str
    """file, folder or link"""
    flags: int
    method: int
    crc: int | None
    compressed: int | None
    """Bytes of the member in the archive; None where only reading it tells."""
    written_ns: int
    offset: int
    """Where its local header stands."""

    @property
    def encrypted(self) -> bool:
        return bool(self.flags & 0x1)


class Unsupported(Exception):
    """The member is packed in a way that is not read. Its text says how."""


class Zip:
    """The members, by iteration; `body` reads one. `broken` tells that the directory is missing or bad."""

    def __init__(self, file: BinaryIO, size: int, window_bytes: int) -> None:
        self._file = file
        self._size = size
        self._window = window_bytes
        self._after = 0
        self.broken: str | None = None
        self.member_broken: str | None = None

    def __iter__(self) -> Iterator[Member]:
        place = self._directory()
        if place is None:
            self.broken = "has no directory at its end (cut off?); its members are read in order"
            yield from self._in_order()
            return
        at, end, shift = place
        while at + _CENTRAL.size <= end:
            fields = self._unpack(_CENTRAL, at)
            if fields is None or fields[0] != b"PK\1\2":
                self.broken = "has a damaged directory"
                return
            name_size, extra_size, comment_size = fields[10:13]
            rest = self._at(at + _CENTRAL.size, name_size + extra_size)
            at += _CENTRAL.size + name_size + extra_size + comment_size
            yield _central_member(fields, rest[:name_size], rest[name_size:], shift)

    def body(self, member: Member) -> Iterator[bytes]:
        """The plain bytes. Afterwards `member_broken` says what was wrong with them, if anything."""
        self.member_broken = None
        fields = self._unpack(_LOCAL, member.offset)
        if fields is None or fields[0] != b"PK\3\4":
            self.member_broken = "is cut off (nothing of it is there)"
            return
        start = member.offset + _LOCAL.size + fields[9] + fields[10]
        position, left = start, member.compressed if member.compressed is not None else self._size - start

        def read(size: int) -> bytes:
            nonlocal position, left
            data = self._at(position, min(size, left))
            position, left = position + len(data), left - len(data)
            return data

        crc = 0
        if member.method == 0:
            if member.compressed is None:
                raise Unsupported("stored without its size")
            while piece := read(PIECE):
                crc = zlib.crc32(piece, crc)
                yield piece
            self.member_broken = "is cut off" if left else None
        else:
            inflate = Inflate(read, self._method(member.method), self._window, one_stream=True)
            for piece in inflate:
                crc = zlib.crc32(piece, crc)
                yield piece
            self.member_broken = inflate.broken
            position = start + (inflate.consumed if member.compressed is None else member.compressed)
        self._after = position
        if not self.member_broken and member.crc is not None and crc != member.crc:
            self.member_broken = "is damaged (its checksum differs)"

    def _method(self, number: int) -> str:
        if number not in _METHODS:
            raise Unsupported(f"packed with method {number}")
        return _METHODS[number]

    def _at(self, offset: int, size: int) -> bytes:
        try:
            self._file.seek(offset)
            return self._file.read(size)
        except (OSError, ValueError, OverflowError):
            return b""

    def _unpack(self, layout: struct.Struct, offset: int) -> tuple[Any, ...] | None:
        data = self._at(offset, layout.size)
        return layout.unpack(data) if len(data) == layout.size else None

    def _directory(self) -> tuple[int, int, int] | None:
        """Where the directory begins and ends, and by how much its offsets are off (bytes put in front)."""
        base = max(0, self._size - _TAIL)
        tail = self._at(base, _TAIL)
        found = tail.rfind(b"PK\5\6")
        if found < 0 or len(tail) - found < _END.size:
            return None
        end = base + found
        fields = _END.unpack_from(tail, found)
        size, offset = fields[5], fields[6]
        if 0xFFFFFFFF in (size, offset) or fields[4] == 0xFFFF:
            wide = self._unpack(_END64, end - 20 - _END64.size)
            if wide is not None and wide[0] == b"PK\6\6":
                end -= 20 + _END64.size
                size, offset = int(wide[8]), int(wide[9])
        start = end - size
        return (start, end, start - offset) if 0 <= offset <= start else None

    def _in_order(self) -> Iterator[Member]:
        at = 0
        while (fields := self._unpack(_LOCAL, at)) is not None and fields[0] == b"PK\3\4":
            _, _, flags, method, clock, day, crc, packed, size, name_size, extra_size = fields
            body = at + _LOCAL.size + name_size + extra_size
            name = self._at(at + _LOCAL.size, name_size)
            extra = self._at(at + _LOCAL.size + name_size, extra_size)
            known = not flags & 0x8
            packed = _wide(extra, [size, packed])[1]
            member = Member(
                name=_name(name, flags),
                kind="folder" if name.endswith(b"/") else "file",
                flags=flags,
                method=method,
                crc=crc if known else None,
                compressed=packed if known else None,
                written_ns=_written(day, clock, extra),
                offset=at,
            )
            self._after = body + (packed if known else 0)
            yield member
            # A member whose end only reading told is followed by a descriptor of 12 to 24 bytes.
            gap = self._at(self._after, 28).find(b"PK\3\4")
            if gap < 0:
                return
            at = self._after + gap


def _central_member(fields: tuple[Any, ...], name: bytes, extra: bytes, shift: int) -> Member:
    _, made_by, _, flags, method, clock, day, crc, packed, size, *_, attributes, offset = fields
    _, packed, offset = _wide(extra, [size, packed, offset])
    is_link = made_by >> 8 == 3 and attributes >> 28 == 0xA
    return Member(
        name=_name(name, flags),
        kind="folder" if name.endswith(b"/") else "link" if is_link else "file",
        flags=flags,
        method=method,
        crc=crc,
        compressed=packed,
        written_ns=_written(day, clock, extra),
        offset=offset + shift,
    )


def _name(name: bytes, flags: int) -> str:
    text = name.decode("utf-8" if flags & 0x800 or name.isascii() else "cp437", "replace")
    return text if "/" in text else text.replace("\\", "/")


def _extras(extra: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(extra):
        tag, size = struct.unpack_from("<2H", extra, at)
        yield tag, extra[at + 4 : at + 4 + size]
        at += 4 + size


def _wide(extra: bytes, values: list[int]) -> list[int]:
    """The values; those that do not fit 32 bits come from the zip64 field, which has only those, in order."""
    data = next((data for tag, data in _extras(extra) if tag == 1), b"")
    wide = []
    for value in values:
        if value == 0xFFFFFFFF and len(data) >= 8:
            value, data = int.from_bytes(data[:8], "little"), data[8:]
        wide.append(value)
    return wide


def _written(day: int, clock: int, extra: bytes) -> int:
    """The member's time: UTC where the archive has it, else the packer's local time, taken for ours."""
    for tag, data in _extras(extra):
        if tag == 0x5455 and len(data) >= 5 and data[0] & 1:
            return int.from_bytes(data[1:5], "little") * 10**9
    fields = (
        1980 + (day >> 9),
        day >> 5 & 15,
        day & 31,
        clock >> 11,
        clock >> 5 & 63,
        clock % 32 * 2,
        0,
        0,
        -1,
    )
    try:
        return int(time.mktime(fields)) * 10**9
    except (OverflowError, ValueError):
        return 0
