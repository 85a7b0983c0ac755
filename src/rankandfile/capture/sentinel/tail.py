"""One ring, read again and again while it is written: each time only what is new."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankandfile.wire import layout
from rankandfile.wire.layout import Header, Record

#: Of open calls, so many of the oldest are looked at each time.
MOST_OPEN = 4096


@dataclass
class Tail:
    """Of the ring at `path`. Raises OSError where it cannot be read any more."""

    path: Path
    table: dict[bytes, dict[int, list[Any]]] = field(default_factory=dict)
    """Kind of entry -> number -> what it says, as far as read."""
    open: dict[int, Record] = field(default_factory=dict)
    """Calls that are not over, by number, the oldest first."""
    seen: int = 0
    """Number of the newest record that was read."""
    lost: bool = False
    """Records were overwritten before they were read."""
    let_go: bool = False
    """Calls were overwritten before they were over."""
    over: list[tuple[Record, bool]] = field(default_factory=list)
    """Calls that were found to be over with the last reading, and whether they raised."""
    header: Header | None = None
    _table_read: int = 0

    def read(self) -> list[Record]:
        """What has been recorded since the last time, in order."""
        with self.path.open("rb") as file:
            head = file.read(layout.HEADER.size)
            if len(head) < layout.HEADER.size or head[:8] != layout.MAGIC:
                return []
            header = self.header = Header(*layout.HEADER.unpack(head))
            if header.version != layout.VERSION or not 0 < header.capacity <= 1 << 20:
                return []
            fd = file.fileno()
            # Records first: what they refer to is in the table by then.
            new = self._records(fd, header)
            self._entries(fd, header)
        return new

    def _records(self, fd: int, header: Header) -> list[Record]:
        newest = header.last + 1  # the header's number may lag behind by one
        oldest = max(newest - header.capacity + 1, 1)
        self.lost |= self.seen + 1 < oldest
        self.over = []
        for number in [number for number in self.open if number < oldest]:
            del self.open[number]
            self.let_go = True
        for number in list(self.open)[:MOST_OPEN]:
            place = header.header_size + (number - 1) % header.capacity * layout.RECORD_SIZE
            self._look_again(number, os.pread(fd, layout.RECORD_SIZE, place))
        new: list[Record] = []
        at = max(self.seen + 1, oldest)
        while at <= newest:
            place = (at - 1) % header.capacity
            count = min(newest - at + 1, header.capacity - place, 1024)
            block = os.pread(fd, count * layout.RECORD_SIZE, header.header_size + place * layout.RECORD_SIZE)
            for i in range(len(block) // layout.RECORD_SIZE):
                found = layout.record_in(block, i * layout.RECORD_SIZE)
                if found is None or found[0].number != at + i:
                    if at + i < header.last:  # torn, or overwritten meanwhile
                        self.lost = True
                        continue
                    return new
                record, left, done = found
                self.seen = record.number
                new.append(record)
                if record.kind == layout.CALL:
                    if left == layout.RAISED or done:
                        self.over.append((record, left == layout.RAISED))
                    else:
                        self.open[record.number] = record
            at += count
        return new

    def _look_again(self, number: int, data: bytes) -> None:
        found = layout.record_in(data, 0) if len(data) == layout.RECORD_SIZE else None
        if found is None or found[0].number != number:
            self.open.pop(number, None)
        elif found[2] or found[1] == layout.RAISED:
            del self.open[number]
            self.over.append((found[0], found[1] == layout.RAISED))

    def _entries(self, fd: int, header: Header) -> None:
        end = min(header.table_used, header.table_size)
        if end <= self._table_read:
            return
        data = os.pread(fd, end - self._table_read, header.table_at + self._table_read)
        at = 0
        while at + layout.ENTRY.size <= len(data):
            length, check, kind = layout.ENTRY.unpack_from(data, at)
            if at + layout.ENTRY.size + length > len(data):
                break
            payload = data[at + layout.ENTRY.size : at + layout.ENTRY.size + length]
            at += layout.ENTRY.size + length
            if zlib.crc32(payload) == check and (value := _row(payload)) is not None:
                self.table.setdefault(kind, {})[value[0]] = value[1:]
        self._table_read += at


def _row(payload: bytes) -> list[Any] | None:
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return value if type(value) is list and value and type(value[0]) is int else None
