"""What a ring's bytes hold. Raises nothing on bytes that are no ring, or a damaged one: it says so."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from rankandfile.wire import layout
from rankandfile.wire.layout import Header, Record

MAX_CAPACITY = 1 << 20
MAX_TABLE = 1 << 28


@dataclass(frozen=True)
class Kept:
    """A record, with what was written at its end later: microseconds after its beginning, 0 for not yet."""

    record: Record
    left_us: int
    done_us: int


@dataclass
class Contents:
    header: Header
    records: list[Kept] = field(default_factory=list)
    """In their order."""
    torn: int = 0
    """Records that were being written."""
    table: dict[bytes, dict[int, list[Any]]] = field(default_factory=dict)
    """Kind of entry -> number -> what it says."""
    notes: list[str] = field(default_factory=list)


def read(data: bytes | memoryview) -> Contents | str:
    """The contents of a ring file, or why they cannot be read."""
    data = memoryview(data)
    if len(data) < layout.HEADER.size or bytes(data[:8]) != layout.MAGIC:
        return "not a ring of the recorder"
    header = Header(*layout.HEADER.unpack_from(data))
    if header.version != layout.VERSION:
        return f"a ring of version {header.version}, which is unknown"
    if header.record_size != layout.RECORD_SIZE or not layout.HEADER.size <= header.header_size <= 1 << 20:
        return "the ring's header is damaged"
    if header.capacity > MAX_CAPACITY or header.table_size > MAX_TABLE:
        return "the ring's header names sizes beyond any ring"
    contents = Contents(header)
    _records(data, contents)
    _table(data, contents)
    return contents


def _records(data: memoryview, contents: Contents) -> None:
    header = contents.header
    room = max(0, len(data) - header.header_size) // layout.RECORD_SIZE
    if room < header.capacity:
        contents.notes.append(f"the file ends early: {room} of {header.capacity} places for records")
    for place in range(min(room, header.capacity)):
        at = header.header_size + place * layout.RECORD_SIZE
        if not any(data[at : at + layout.CHECK_AT + layout.U32.size]):
            continue
        found = layout.record_in(data, at)
        if found is None or (found[0].number - 1) % header.capacity != place:
            contents.torn += 1
            continue
        contents.records.append(Kept(*found))
    contents.records.sort(key=lambda kept: kept.record.number)


def _table(data: memoryview, contents: Contents) -> None:
    header = contents.header
    at = header.table_at
    end = min(header.table_at + min(header.table_used, header.table_size), len(data))
    while at + layout.ENTRY.size <= end:
        length, check, kind = layout.ENTRY.unpack_from(data, at)
        at += layout.ENTRY.size
        if length > end - at:
            contents.notes.append("the table ends within an entry")
            return
        payload = data[at : at + length]
        at += length
        if zlib.crc32(payload) != check:
            contents.notes.append(f"an entry of the table at offset {at - length} is damaged")
            continue
        try:
            value = json.loads(bytes(payload))
        except (ValueError, RecursionError):
            contents.notes.append(f"an entry of the table at offset {at - length} is not readable")
            continue
        if type(value) is list and value and type(value[0]) is int:
            contents.table.setdefault(kind, {})[value[0]] = value[1:]
