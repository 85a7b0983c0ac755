"""From a condensed dump back to a dump in the terms of torch's recorder, which the decoder of all dumps then checks.

Whatever a stranger writes into such a file, it is no more than a stranger's dump: nothing goes around those checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import msgspec

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.flight import header
from rankandfile.evidence.flight.entries import INTEGER_KEYS
from rankandfile.evidence.flight.interning import Malformed, text
from rankandfile.evidence.raw import NULL, RawDump, RawNote, Run

from .form import FORM, SIGN, UNIT_NS, Document, Dump, Group, Sparse, unpack
from .stood import stacks_of

#: As many as one file has, at most.
_NOTES, _SOURCES = 10_000, 100_000
_BREAKS = (Malformed, IndexError, KeyError, ValueError, OverflowError, TypeError)


def read(data: bytes) -> Decoded:
    """What the file held before it was condensed, and why if nothing of it can be read."""
    if not data.startswith(SIGN + FORM):
        return _unread("condensed in a form that this version does not know: a later raf reads it")
    try:
        document = unpack(memoryview(data)[len(SIGN) + len(FORM) :])
        return _decoded(document)
    except msgspec.DecodeError as error:
        cut = "truncated" in str(error)
        return _unread("cut off: nothing of it can be read" if cut else f"damaged, not read: {error!s:.200}")
    except _BREAKS as error:
        return _unread(f"damaged, not read: {error!s:.200}")


def _unread(why: str) -> Decoded:
    return Decoded(notes=[RawNote("", f"a condensed dump, {why}")])


def _decoded(document: Document) -> Decoded:
    dumps: list[RawDump] = []
    notes = document.notes[:_NOTES]
    known = {(note.where, note.what) for note in notes}
    for one in document.dumps:
        value = {"entries": _entries(one), **_head(one)}
        found, more = header.decode_all([(one.rank, value)], text(one.format), one.truncated)
        for dump in found:
            dump.left_out += one.left_out
        dumps += found
        # What was said of the dump when it was condensed is not said again.
        notes += [note for note in more if (note.where, note.what) not in known]
    sources = [(text(path), text(digest)) for path, digest in document.sources[:_SOURCES]]
    return Decoded(dumps=dumps, notes=notes, stacks=stacks_of(document.stood), sources=sources)


def _head(dump: Dump) -> dict[str, Any]:
    # A run of ranks is three numbers, however many it stands for.
    if sum(_most(group.runs or ()) for group in dump.config) > header.MAX_MEMBERS_IN_ALL:
        raise Malformed("more members than any job has")
    words = {"version": dump.version, "comm_lib_version": dump.library}
    return {
        **{key: word for key, word in words.items() if word},
        "pg_config": {str(number): _group(one) for number, one in enumerate(dump.config)},
        "pg_status": {
            str(one.group): {
                "last_enqueued_collective": one.last_enqueued,
                "last_started_collective": one.last_started,
                "last_completed_collective": one.last_completed,
            }
            for one in dump.status
        },
    }


def _group(group: Group) -> dict[str, Any]:
    ranks = None if group.runs is None else _members(group.runs)
    return {"name": group.name, "desc": group.desc, "ranks": ranks}


def _most(runs: Sequence[Run]) -> int:
    return sum(max(count, 0) for _, count, _ in runs)


def _members(runs: Sequence[Run]) -> list[int]:
    return [first + step * n for first, count, step in runs for n in range(count)]


def _entries(dump: Dump) -> list[dict[str, Any]]:
    kinds = _kinds(dump)
    groups = [dump.kinds[kind].group for kind in dump.calls]
    columns: dict[str, Iterable[int | None]] = {
        INTEGER_KEYS[name]: _counted(values, groups) for name, values in dump.numbers.items()
    }
    made = list(_counted(dump.made, repeat(0)))
    if made:
        columns["time_created_ns"] = _made(made, dump.rest_ns)
    for key, few in (
        ("time_discovered_started_ns", dump.started_ns),
        ("time_discovered_completed_ns", dump.completed_ns),
    ):
        if few.values:
            columns[key] = _spread(few, len(dump.calls))
    keys = tuple(columns)
    entries = [
        {**kinds[kind], **dict(zip(keys, row, strict=True))}
        for kind, row in zip(dump.calls, zip(*columns.values(), strict=True), strict=True)
    ]
    for at, duration in dump.durations_ms:
        entries[at]["duration_ms"] = duration
    return entries


def _kinds(dump: Dump) -> list[dict[str, Any]]:
    """All of an entry that is neither a counter nor a time."""
    frames = [{"name": one.function, "filename": one.file, "line": one.line} for one in dump.frames]
    stacks = [[frames[number] for number in stack] for stack in dump.stacks]
    shapes = [
        {
            "input_sizes": list(map(list, one.in_sizes)),
            "input_dtypes": list(one.in_dtypes),
            "output_sizes": list(map(list, one.out_sizes)),
            "output_dtypes": list(one.out_dtypes),
        }
        for one in dump.shapes
    ]
    return [
        {
            "profiling_name": one.name,
            "process_group": dump.groups[one.group],
            "pg_id": one.group,
            "thread_id": "",
            "thread_name": dump.threads[one.thread],
            **shapes[one.shape],
            **({"frames": None if one.stack is None else stacks[one.stack]} if dump.has_frames else {}),
            "state": one.state,
            "retired": one.retired,
            "is_p2p": one.is_p2p,
            "timeout_ms": one.timeout_ms,
        }
        for one in dump.kinds
    ]


def _counted(above: Iterable[int | None], groups: Iterable[int]) -> Iterator[int]:
    last: dict[int, int] = {}
    for value, group in zip(above, groups, strict=False):
        if value is None:
            yield NULL
        else:
            last[group] = value + last.get(group, 0)
            yield last[group]


def _made(made: list[int], rest: Sparse) -> list[int | None]:
    found: list[int | None] = [None if value == NULL else value * UNIT_NS for value in made]
    for at, value in _places(rest):
        found[at] = (found[at] or 0) + value
    return found


def _spread(few: Sparse, count: int) -> list[int | None]:
    found: list[int | None] = [None] * count
    for at, value in _places(few):
        found[at] = value
    return found


def _places(few: Sparse) -> Iterator[tuple[int, int]]:
    at = 0
    for after, value in zip(few.after, few.values, strict=True):
        at += after
        yield at, value
