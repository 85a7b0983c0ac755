"""A ring as a dump: its calls in the form of torch's own recorder, so that the same decoder checks and keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from rankandfile.evidence.raw import RawNote
from rankandfile.evidence.ring.pulses import pulses
from rankandfile.evidence.text.stacks.raw import RawStacks
from rankandfile.wire import flight, layout, reading
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
    _name_reductions(contents, dump["entries"])
    _count_from_zero(contents, dump["entries"])
    return Loaded(dump, rank, pulses(contents, rank), notes, _sources(contents))


def _name_reductions(contents: Contents, entries: list[dict[str, Any]]) -> None:
    """`all_reduce MAX`: torch's recorder does not keep how a call reduces, and a ring does."""
    known = {
        kept.record.number: layout.REDUCTIONS[kept.record.reduce_op]
        for kept in contents.records
        if 0 < kept.record.reduce_op < len(layout.REDUCTIONS) and kept.record.kind == layout.CALL
    }
    for entry in entries:
        if (reduction := known.get(entry["record_id"])) is not None:
            entry["profiling_name"] += f" {reduction}"


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
