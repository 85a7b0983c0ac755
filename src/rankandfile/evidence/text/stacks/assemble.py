"""From decoded files of stacks to the tables `snapshots` and `stack_files`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from rankandfile.evidence.raw import Frame, Repeats, unpack_repeats
from rankandfile.evidence.tables.repeated import Repeated, number
from rankandfile.evidence.text.stacks.ownership import StackPart
from rankandfile.evidence.text.stacks.places import Places
from rankandfile.evidence.text.stacks.raw import DIED, NOW, RawThread
from rankandfile.model.snapshots import snapshot_schema


def snapshot_tables(parts: Sequence[StackPart], tables: Repeated) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables of these files, whose ranks have been given. Their stacks and frames are added to `tables`.

    Add those of the calls first: a path that py-spy shortened is then known by its full name.
    """
    stacks_of = _interned(parts, tables)
    ordinals = _ordinals(parts)
    rows = [
        _row(file, part, thread, ordinals[file, thread.process], stacks_of[part.raw.repeats])
        for file, part in enumerate(parts)
        for thread in part.raw.threads
    ]
    files = [_file(file, part) for file, part in enumerate(parts)]
    return (
        pl.DataFrame(rows, schema=snapshot_schema("snapshots"), orient="row"),
        pl.DataFrame(files, schema=snapshot_schema("stack_files"), orient="row"),
    )


def _row(file: int, part: StackPart, thread: RawThread, ordinal: int, stacks: list[int]) -> tuple[Any, ...]:
    process = part.raw.processes[thread.process]
    return (
        file,
        thread.line,
        process.rank,
        process.rank_from or None,
        process.host,
        process.pid,
        process.parent,
        ordinal,
        process.at_ns,
        thread.shows,
        thread.thread_id,
        thread.os_thread,
        thread.name,
        thread.role,
        thread.active,
        thread.owns_gil,
        thread.native,
        thread.cut,
        None if thread.stack is None else stacks[thread.stack],
        thread.code or None,
        thread.error or process.error or None,
        thread.follows,
        thread.locals or None,
        thread.asked or None,
    )


def _file(file: int, part: StackPart) -> tuple[Any, ...]:
    ranks = {process.rank for process in part.raw.processes}
    pids = {process.pid for process in part.raw.processes}
    return (
        file,
        part.source,
        " ".join(part.raw.formats),
        ranks.pop() if len(ranks) == 1 else part.rank,
        pids.pop() if len(pids) == 1 else None,
        part.host,
        len(part.raw.threads),
        part.written_ns or None,
        part.raw.unanswered,
        [f"{note.where}: {note.what}" if note.where else note.what for note in part.raw.notes],
    )


def _interned(parts: Sequence[StackPart], tables: Repeated) -> dict[bytes, list[int]]:
    """Per packed set of stacks, the number of each of its stacks in the case."""
    unpacked = {part.raw.repeats: None for part in parts}
    repeats = {packed: unpack_repeats(packed) if packed else Repeats() for packed in unpacked}
    names = {frame.file for one in repeats.values() for frame in one.frames}
    places = Places({*names, *(frame.file for frame in tables.frames)})
    full = {name: places.full(name) for name in names}
    stacks: dict[bytes, list[int]] = {}
    for packed, one in repeats.items():
        frames = [
            number(tables.frames, Frame(frame.function, full[frame.file], frame.line)) for frame in one.frames
        ]
        stacks[packed] = [number(tables.stacks, tuple([frames[f] for f in stack])) for stack in one.stacks]
    return stacks


def _ordinals(parts: Sequence[StackPart]) -> dict[tuple[int, int], int]:
    """Of each snapshot: how many of the same process came before it."""
    kinds: dict[tuple[int, int], tuple[str, bool]] = {}
    for file, part in enumerate(parts):
        for thread in part.raw.threads:
            place = (file, thread.process)
            shows, worker = kinds.get(place, (thread.shows, False))
            kinds[place] = (shows, worker or thread.role == "worker")
    order: list[tuple[tuple[Any, ...], int, tuple[int, int]]] = []
    for place, (shows, worker) in kinds.items():
        part = parts[place[0]]
        process = part.raw.processes[place[1]]
        if process.rank is not None and not worker and process.rank_from != "parent":
            who: tuple[Any, ...] = ("rank", process.rank)
        elif process.pid is not None:
            who = ("process", process.host, process.pid)
        else:
            who = ("file", place[0], process.rank)
        snapshot = shows in (NOW, DIED)
        order.append(((*who, "" if snapshot else shows), process.at_ns or part.written_ns, place))
    order.sort(key=lambda entry: (entry[1], entry[2]))
    counts: dict[tuple[Any, ...], int] = {}
    ordinals: dict[tuple[int, int], int] = {}
    for who, _, place in order:
        ordinals[place] = counts[who] = counts.get(who, -1) + 1
    return ordinals
