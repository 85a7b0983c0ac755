"""The timeline as a Perfetto trace (protobuf): a track for the job, one for each rank, and below it its groups.

Numbers are those of perfetto's `trace_packet.proto`, `track_event.proto` and `track_descriptor.proto`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from .chrome_trace import lane, lane_name
from .timeline import Moment, Timeline
from .words import plain

_PACKET = 1
_TIMESTAMP, _EVENT, _SEQUENCE, _INTERNED, _FLAGS, _DESCRIPTOR = 8, 11, 10, 12, 13, 60
_CLEARED, _NEEDS = 1, 2
_BEGIN, _END, _INSTANT = 1, 2, 3
_ORDERED = 3
_JOB_TRACK = 1
_OUR_SEQUENCE = 1
#: What a click on a slice tells, by the number of its name.
_TOLD = {"group_label": 1, "seq": 2, "state": 3, "sizes": 4, "place": 5, "evidence": 6}
_NAMES = {"group_label": "group"}


def perfetto(timeline: Timeline) -> Iterator[bytes]:
    """The trace in pieces, a packet each."""
    names = _Interned()
    yield _packet(
        _number(_FLAGS, _CLEARED),
        _data(_INTERNED, b"".join(_entry(3, iid, _NAMES.get(name, name)) for name, iid in _TOLD.items())),
    )
    yield from _tracks(timeline)
    for moment in timeline.moments:
        yield _moment(moment)
    for row in timeline.slices.iter_rows(named=True):
        yield from _slice(row, names)


class _Interned:
    """Texts that are sent once and then called by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> tuple[int, bytes]:
        """The number, and what must be sent with its first use."""
        if (known := self._numbers.get(text)) is not None:
            return known, b""
        new = self._numbers[text] = len(self._numbers) + 1
        return new, _data(_INTERNED, _entry(2, new, text))


def _entry(field: int, iid: int, text: str) -> bytes:
    return _data(field, _number(1, iid) + _text(2, text))


def _packet(*parts: bytes) -> bytes:
    return _data(_PACKET, _number(_SEQUENCE, _OUR_SEQUENCE) + b"".join(parts))


def _tracks(timeline: Timeline) -> Iterator[bytes]:
    left_out = f", {timeline.left_out:,} ranks not shown" if timeline.left_out else ""
    yield _track(_JOB_TRACK, None, f"job ({timeline.clock}{left_out})", 0)
    lanes = timeline.slices.select("rank", "group", "group_label", "unfinished").unique(maintain_order=True)
    for rank in lanes["rank"].unique().sort():
        role = timeline.roles.get(rank)
        yield _track(_rank_track(rank), _JOB_TRACK, f"rank {rank}" + (f": {role}" if role else ""), rank)
    for rank, group, label, unfinished in lanes.iter_rows():
        own = lane(group, unfinished)
        yield _track(_lane_track(rank, own), _rank_track(rank), lane_name(label, unfinished), own)


def _track(uuid: int, parent: int | None, name: str, order: int) -> bytes:
    above = b"" if parent is None else _number(5, parent)
    return _packet(
        _data(
            _DESCRIPTOR,
            _number(1, uuid) + above + _text(2, name) + _number(11, _ORDERED) + _number(12, order),
        )
    )


def _rank_track(rank: int) -> int:
    return (rank + 1) << 32


def _lane_track(rank: int, own: int) -> int:
    return _rank_track(rank) + own


def _moment(moment: Moment) -> bytes:
    track = _JOB_TRACK if moment.rank is None else _rank_track(moment.rank)
    says = _data(4, _text(10, "verdict") + _text(6, moment.says))
    event = _number(9, _INSTANT) + _number(11, track) + _text(23, plain(moment.name)) + says
    return _packet(_number(_TIMESTAMP, moment.at_ns), _data(_EVENT, _text(22, "verdict") + event))


def _slice(row: dict[str, Any], names: _Interned) -> Iterator[bytes]:
    track = _number(11, _lane_track(row["rank"], lane(row["group"], row["unfinished"])))
    iid, interned = names.number(plain(row["name"]))
    told = b"".join(
        _data(4, _number(1, known) + _text(6, plain(str(row[name]))))
        for name, known in _TOLD.items()
        if row[name] is not None
    )
    flow = b"" if row["flow"] is None else _fixed(47, row["flow"])
    event = _number(9, _BEGIN) + track + _number(10, iid) + _text(22, row["state"]) + flow + told
    yield _packet(
        _number(_TIMESTAMP, row["start_ns"]), _number(_FLAGS, _NEEDS), interned, _data(_EVENT, event)
    )
    if row["end_ns"] is not None:
        yield _packet(_number(_TIMESTAMP, row["end_ns"]), _data(_EVENT, _number(9, _END) + track))


# The wire format of protocol buffers, as far as a writer of traces needs it.


def _varint(value: int) -> bytes:
    if value < 0:
        value += 1 << 64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _fixed(field: int, value: int) -> bytes:
    """Eight bytes."""
    return _varint(field << 3 | 1) + struct.pack("<Q", value)


def _data(field: int, value: bytes) -> bytes:
    """Bytes, or a message in itself."""
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _data(field, value.encode("utf-8", "replace"))
