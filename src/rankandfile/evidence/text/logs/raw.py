"""What a log becomes on its way to the assembling process: columns, and a row about the file. No Polars."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import astuple

from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.told import Told
from rankandfile.model.ranks import MOST_RANKS

#: The columns of an event that a decoding process knows; the number of the log is the assembler's.
COLUMNS = tuple(Event.__struct_fields__)

#: Above so many logs they are not compared with each other: a job of that size has a recorder.
MOST_COMPARED = 4096


Columns = dict[str, list[Any]]
"""`COLUMNS`, of equal length; `fields` as JSON text. Nothing of a log without events."""


class LogRow(msgspec.Struct, array_like=True):
    bytes: int = 0
    lines: int = 0
    host: str | None = None
    prefixes: list[str] = []
    first_ns: int | None = None
    last_ns: int | None = None
    time_quality: str | None = None
    world_size: int | None = None
    torch: str | None = None
    last_line: str = ""
    truncated: bool = False
    partial: bool = False
    begun: tuple[int, str] | None = None
    """The first time in it, of whatever quality."""


class Said(msgspec.Struct, array_like=True, kw_only=True):
    """A line at the beginning or the end of a log, to be compared with those of other ranks."""

    line: int
    rank: int | None
    text: str
    times: int = 1
    """How often a line of its shape stands there; this is the last."""
    pid: int | None = None
    host: str | None = None
    local_rank: int | None = None
    task: int | None = None
    before: tuple[str, ...] = ()
    """The last lines of its shape before this one, oldest first."""


class RawLog(msgspec.Struct, array_like=True):
    row: LogRow
    packed: bytes = b""
    """Its events, as `packed_columns` writes them: there may be a hundred thousand logs of an event each, and as
    objects those would take gigabytes."""
    notes: list[RawNote] = []
    said: list[Said] = []
    told: Told = Told()

    @property
    def columns(self) -> Columns:
        return _unpack_columns(self.packed) if self.packed else {}


def packed_columns(columns: Columns) -> bytes:
    return pack(columns) if columns else b""


def columns_of(events: list[Event]) -> Columns:
    if not events:
        return {}
    columns: Columns = dict(zip(COLUMNS, map(list, zip(*map(astuple, events), strict=True)), strict=True))
    for name in ("rank", "group_rank"):
        columns[name] = [None if rank is None or rank >= MOST_RANKS else rank for rank in columns[name]]
    columns["fields"] = [
        msgspec.json.encode(event.fields).decode() if event.fields else None for event in events
    ]
    return columns


pack = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder(RawLog).decode
_unpack_columns = msgspec.msgpack.Decoder(Columns).decode
