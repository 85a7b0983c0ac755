"""A ring as a dump: its calls in the form of torch's own recorder, so that the same decoder checks and keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.ring.pulses import pulses
from rankandfile.evidence.text.stacks.raw import RawStacks
from rankandfile.wire import flight, layout, reading
from rankandfile.wire.layout import Record
from rankandfile.wire.reading import Contents

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
    dump = flight.dump(contents)
    _name_roots_and_reductions(contents, dump["entries"])
    _count_from_zero(contents, dump["entries"])
    return Loaded(dump, rank, pulses(contents, rank), notes, _sources(contents))


def _name_roots_and_reductions(contents: Contents, entries: list[dict[str, Any]]) -> None:
    """`reduce root 2 MAX`: torch's recorder keeps neither the root of a call nor how it reduces, and a ring does."""
    known = {
        kept.record.number: _root(kept.record) + _reduction(kept.record)
        for kept in contents.records
        if kept.record.kind == layout.CALL
    }
    for entry in entries:
        entry["profiling_name"] += known.get(entry["record_id"], "")


def _root(record: Record) -> str:
    """By its position in the group, as the peers of transfers are told."""
    return f" root {record.peer}" if record.peer >= 0 and not record.flags & layout.P2P else ""


def _reduction(record: Record) -> str:
    known = 0 < record.reduce_op < len(layout.REDUCTIONS)
    return f" {layout.REDUCTIONS[record.reduce_op]}" if known else ""


def _count_from_zero(contents: Contents, entries: list[dict[str, Any]]) -> None:
    """As torch's recorder counts: where nothing was lost, the first call is number 0, and everybody can tell."""
    first: dict[int, int] = {}
    for entry in entries:
        first.setdefault(entry["pg_id"], entry["collective_seq_id"])
    numbers = [kept.record.number for kept in contents.records[:1]]
    if numbers == [1] and entries and max(first.values()) <= 1:
        before = entries[0]["record_id"]
        for entry in entries:
            entry["record_id"] -= before


def _sources(contents: Contents) -> list[tuple[str, str]]:
    found = contents.table.get(layout.SOURCE, {}).values()
    return [(row[0], row[1]) for row in found if len(row) >= 2 and all(type(word) is str for word in row[:2])]
