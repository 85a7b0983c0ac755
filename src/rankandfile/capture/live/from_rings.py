"""Where a rank stands, by its ring: the newest call, and the newest number in each group."""

from __future__ import annotations

import time
from typing import Any

from rankandfile.capture.live.standing import Group, Place, Stands
from rankandfile.capture.watch import ring_files
from rankandfile.capture.watch.rings import Seen
from rankandfile.reason.ranks.activity import CodePlace, is_library
from rankandfile.wire import layout
from rankandfile.wire.flight import name
from rankandfile.wire.reading import Contents, Kept, read

#: The group of all ranks goes without saying.
_WORLD = "default_pg"


def stands(seen: Seen) -> Stands | None:
    """None where the ring tells no call. A rank that is in no call runs, as far as its ring knows."""
    try:
        contents = read(ring_files.read(seen.path))
    except OSError:
        return None
    if isinstance(contents, str):
        return None
    calls = [kept for kept in contents.records if kept.record.kind == layout.CALL]
    if not calls:
        return Stands(seen.rank, seen.pid, "runs", "no call yet") if seen.lives else None
    newest = calls[-1]
    ended = newest.done_us or newest.left_us == layout.RAISED
    since = time.time() - newest.record.wall_ns / 1e9
    numbers = _numbers(contents, calls)
    said = _call(contents, newest)
    if not ended:
        return Stands(
            seen.rank,
            seen.pid,
            "waits",
            f"in {said}",
            _place(contents, newest.record.stack),
            since,
            calls=numbers,
        )
    pulse = next((kept for kept in reversed(contents.records) if kept.record.kind == layout.PULSE), None)
    later = pulse if pulse is not None and pulse.record.number > newest.record.number else None
    return Stands(
        seen.rank,
        seen.pid,
        "runs",
        f"after {said}",
        _place(contents, later.record.stack) if later is not None else None,
        max(since - newest.done_us / 1e6, 0.0),
        calls=numbers,
    )


def _numbers(contents: Contents, calls: list[Kept]) -> dict[Group, int]:
    found: dict[Group, int] = {}
    for kept in calls:
        if not kept.record.flags & layout.P2P:
            group = _group(contents, kept.record.group)
            found[group] = max(found.get(group, 0), kept.record.seq)
    return found


def _group(contents: Contents, number: int) -> Group:
    row = contents.table.get(layout.GROUP, {}).get(number, [])
    members = tuple(row[2]) if len(row) > 2 and isinstance(row[2], list) else ()
    return (str(row[1] or row[0]) if len(row) > 1 else "?"), members


def _call(contents: Contents, kept: Kept) -> str:
    record = kept.record
    row = contents.table.get(layout.GROUP, {}).get(record.group, [])
    own = row[4] if len(row) > 4 and isinstance(row[4], int) else -1
    word = name(record.op, own, record.peer) or "a call"
    number = "" if record.flags & layout.P2P else f" #{record.seq}"
    group = _group(contents, record.group)[0]
    return f"{word}{number}{f' of {group}' * (group != _WORLD)}"


def _place(contents: Contents, stack: int) -> Place | None:
    """The innermost line of the program itself."""
    frames = [_frame(contents, number) for number in contents.table.get(layout.STACK, {}).get(stack, [])[1:]]
    own = [one for one in frames if one is not None and not is_library(one)]
    first = next(iter(own), None) or next((one for one in frames if one is not None), None)
    return Place(first.file, first.line, first.function) if first is not None else None


def _frame(contents: Contents, number: Any) -> CodePlace | None:
    row = contents.table.get(layout.FRAME, {}).get(number) if type(number) is int else None
    if row is None or len(row) != 3 or not isinstance(row[2], int):
        return None
    return CodePlace(str(row[0]), str(row[1]), row[2])
