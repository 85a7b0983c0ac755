"""A ring as a dump: its calls in the form of torch's own recorder, so that the same decoder checks and keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.ring.names import name
from rankandfile.evidence.ring.pulses import pulses
from rankandfile.evidence.stacks.raw import RawStacks
from rankandfile.wire import layout, reading
from rankandfile.wire.reading import Contents, Kept

#: A ring is a few megabytes by construction.
LARGEST = 256 << 20


class Loaded(NamedTuple):
    dump: dict[str, Any] | None
    rank: int | None
    stacks: RawStacks | None
    notes: list[RawNote]
    sources: list[tuple[str, str]]
    """The files of the program that were in stacks, and the hash of each."""


def load(path: Path) -> Loaded:
    """The dump in the file, its rank, the stacks that the process left while it was quiet, and what was not kept."""
    with path.open("rb") as file:
        data = file.read(LARGEST)
    contents = reading.read(data)
    if isinstance(contents, str):
        return Loaded(None, None, None, [RawNote("offset 0", contents)], [])
    notes = [RawNote("", note) for note in contents.notes]
    if contents.torn:
        what = "a record was" if contents.torn == 1 else f"{contents.torn} records were"
        notes.append(RawNote("ring", f"{what} being written when the process stopped: left out"))
    rank = contents.header.rank if contents.header.rank >= 0 else None
    dump = {"version": "2.10", "entries": _entries(contents), "pg_config": _groups(contents)}
    return Loaded(dump, rank, pulses(contents, rank), notes, _sources(contents))


def _sources(contents: Contents) -> list[tuple[str, str]]:
    found = contents.table.get(layout.SOURCE, {}).values()
    return [(row[0], row[1]) for row in found if len(row) >= 2 and all(type(word) is str for word in row[:2])]


def _groups(contents: Contents) -> dict[str, Any]:
    found = {}
    for number, entry in contents.table.get(layout.GROUP, {}).items():
        if len(entry) >= 3 and entry[2]:
            found[str(number)] = {"name": entry[0], "desc": entry[1], "ranks": entry[2]}
    return found


def _entries(contents: Contents) -> list[dict[str, Any]]:
    describe = _Describe(contents)
    # A pulse is not the thread's own doing.
    own = [kept.record for kept in contents.records if kept.record.kind != layout.PULSE]
    last = {record.thread: record.number for record in own}
    calls = [kept for kept in contents.records if kept.record.kind == layout.CALL]
    entries = [describe.entry(kept, last[kept.record.thread] > kept.record.number) for kept in calls]
    return [entry for entry in entries if entry is not None]


class _Describe:
    """Looks up what records refer to. Equal parts stay one object: the decoder compares by identity first."""

    def __init__(self, contents: Contents) -> None:
        self._table = contents.table
        self._stacks: dict[int, list[dict[str, Any]] | None] = {}

    def entry(self, kept: Kept, thread_went_on: bool) -> dict[str, Any] | None:
        record = kept.record
        group = self._row(layout.GROUP, record.group, ["?", "", [], "", -1, 0])
        word = name(record.op, group[4], record.peer)
        if word is None:
            return None
        shape = self._row(layout.SHAPE, record.shape, [[], [], [], []])
        thread = self._row(layout.THREAD, record.thread, ["", ""])
        completed = kept.done_us > 0
        # A synchronous call has ended when its thread is seen to do anything after it.
        ended = kept.left_us == layout.RAISED or (bool(record.flags & layout.SYNC) and thread_went_on)
        return {
            "record_id": record.number,
            "pg_id": record.group,
            "process_group": (group[0], group[1]),
            "collective_seq_id": record.seq,
            "p2p_seq_id": record.p2p_seq,
            "op_id": record.op_seq,
            "profiling_name": f"{group[3] or 'gloo'}:{word}",
            "time_created_ns": record.wall_ns,
            "time_discovered_started_ns": None,
            "time_discovered_completed_ns": record.wall_ns + kept.done_us * 1000 if completed else None,
            "state": "completed" if completed else "scheduled",
            "retired": completed or ended,
            "is_p2p": bool(record.flags & layout.P2P),
            "input_sizes": shape[0],
            "input_dtypes": shape[1],
            "output_sizes": shape[2],
            "output_dtypes": shape[3],
            "frames": self._stack(record.stack),
            "timeout_ms": None,
            "thread_id": str(thread[0]),
            "thread_name": str(thread[1]),
        }

    def _row(self, kind: bytes, number: int, default: list[Any]) -> list[Any]:
        found = self._table.get(kind, {}).get(number)
        return found if found is not None and len(found) >= len(default) else default

    def _stack(self, number: int) -> list[dict[str, Any]] | None:
        if number not in self._stacks:
            frames = self._table.get(layout.STACK, {}).get(number)
            self._stacks[number] = None if frames is None else [self._frame(frame) for frame in frames[1:]]
        return self._stacks[number]

    def _frame(self, number: Any) -> dict[str, Any]:
        found = self._table.get(layout.FRAME, {}).get(number) if type(number) is int else None
        function, file, line = found if found is not None and len(found) == 3 else ("?", "?", 0)
        return {"name": function, "filename": file, "line": line}
