"""The timeline as a Perfetto trace (protobuf): a track for the job, one for each rank, and below it its groups.

Numbers are those of perfetto's `trace_packet.proto`, `track_event.proto` and `track_descriptor.proto`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import protobuf as pb
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
        pb.number(_FLAGS, _CLEARED),
        pb.data(_INTERNED, b"".join(_entry(3, iid, _NAMES.get(name, name)) for name, iid in _TOLD.items())),
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
        return new, pb.data(_INTERNED, _entry(2, new, text))


def _entry(field: int, iid: int, text: str) -> bytes:
    return pb.data(field, pb.number(1, iid) + pb.text(2, text))


def _packet(*parts: bytes) -> bytes:
    return pb.data(_PACKET, pb.number(_SEQUENCE, _OUR_SEQUENCE) + b"".join(parts))


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
    above = b"" if parent is None else pb.number(5, parent)
    return _packet(
        pb.data(
            _DESCRIPTOR,
            pb.number(1, uuid) + above + pb.text(2, name) + pb.number(11, _ORDERED) + pb.number(12, order),
        )
    )


def _rank_track(rank: int) -> int:
    return (rank + 1) << 32


def _lane_track(rank: int, own: int) -> int:
    return _rank_track(rank) + own


def _moment(moment: Moment) -> bytes:
    track = _JOB_TRACK if moment.rank is None else _rank_track(moment.rank)
    says = pb.data(4, pb.text(10, "verdict") + pb.text(6, moment.says))
    event = pb.number(9, _INSTANT) + pb.number(11, track) + pb.text(23, plain(moment.name)) + says
    return _packet(pb.number(_TIMESTAMP, moment.at_ns), pb.data(_EVENT, pb.text(22, "verdict") + event))


def _slice(row: dict[str, Any], names: _Interned) -> Iterator[bytes]:
    track = pb.number(11, _lane_track(row["rank"], lane(row["group"], row["unfinished"])))
    iid, interned = names.number(plain(row["name"]))
    told = b"".join(
        pb.data(4, pb.number(1, known) + pb.text(6, plain(str(row[name]))))
        for name, known in _TOLD.items()
        if row[name] is not None
    )
    flow = b"" if row["flow"] is None else pb.fixed(47, row["flow"])
    event = pb.number(9, _BEGIN) + track + pb.number(10, iid) + pb.text(22, row["state"]) + flow + told
    yield _packet(
        pb.number(_TIMESTAMP, row["start_ns"]), pb.number(_FLAGS, _NEEDS), interned, pb.data(_EVENT, event)
    )
    if row["end_ns"] is not None:
        yield _packet(pb.number(_TIMESTAMP, row["end_ns"]), pb.data(_EVENT, pb.number(9, _END) + track))
