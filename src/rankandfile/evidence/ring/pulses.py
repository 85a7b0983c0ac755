"""Where the main thread was while its process recorded nothing, as snapshots of the last two such moments; and the
exception that was on its way when the process made its last call, as a traceback that was never printed."""

from __future__ import annotations

from typing import Any

from rankandfile.evidence.flight.interning import MAX_FRAMES, Malformed, text
from rankandfile.evidence.raw import Frame, Repeats, pack
from rankandfile.evidence.text.stacks.raw import RAISED, RawProcess, RawStacks, RawThread
from rankandfile.wire import layout
from rankandfile.wire.layout import Record
from rankandfile.wire.reading import Contents

#: Two tell whether it moves.
MOST = 2


def pulses(contents: Contents, rank: int | None) -> RawStacks | None:
    """Snapshots of the process, if it fell silent and stayed so, and what it raised."""
    found: list[Record] = []
    for kept in reversed(contents.records):
        if kept.record.kind != layout.PULSE or len(found) == MOST:
            break
        found.append(kept.record)
    stacks, repeats = RawStacks(formats=["ring"]), Repeats()
    for record in reversed(found):
        thread = _thread(contents, rank, record, stacks, repeats)
        if thread is not None:
            thread.name = "MainThread"
    raised = in_flight(contents)
    thread = _thread(contents, rank, raised, stacks, repeats) if raised is not None else None
    if thread is not None and raised is not None:
        words = contents.table.get(layout.TEXT, {}).get(raised.in_elements, [])
        thread.shows, thread.error = RAISED, str(words[1]) if len(words) > 1 else ""
    stacks.repeats = pack(repeats)
    return stacks if stacks.threads else None


def in_flight(contents: Contents) -> Record | None:
    """What tells of the exception that the thread of the last call was handling when it made it."""
    calls = (kept.record for kept in reversed(contents.records) if kept.record.kind == layout.CALL)
    last = next(calls, None)
    if last is None or not last.flags & layout.IN_FLIGHT:
        return None
    for kept in reversed(contents.records):
        record = kept.record
        if record.kind == layout.DECISION and record.thread == last.thread and record.number < last.number:
            words = contents.table.get(layout.TEXT, {}).get(record.in_elements, [])
            if words[:1] == [layout.EXCEPTION]:
                return record
    return None


def _thread(
    contents: Contents, rank: int | None, record: Record, stacks: RawStacks, repeats: Repeats
) -> RawThread | None:
    frames = _frames(contents, record.stack)
    if not frames:
        return None
    header = contents.header
    host = header.host.split(b"\0")[0].decode("utf-8", "replace")
    numbers = []
    for frame in frames:
        numbers.append(len(repeats.frames))
        repeats.frames.append(frame)
    process = RawProcess(rank, "content" if rank is not None else "", host, header.pid, header.parent)
    process.at_ns = record.wall_ns
    stacks.processes.append(process)
    thread = RawThread(record.number, len(stacks.processes) - 1, len(repeats.stacks))
    thread.role = "main"
    stacks.threads.append(thread)
    repeats.stacks.append(tuple(numbers))
    return thread


def _frames(contents: Contents, number: int) -> list[Frame]:
    known = contents.table.get(layout.FRAME, {})
    frames = []
    for one in contents.table.get(layout.STACK, {}).get(number, [])[1 : MAX_FRAMES + 1]:
        frame = _frame(known.get(one) if type(one) is int else None)
        if frame is not None:
            frames.append(frame)
    return frames


def _frame(row: list[Any] | None) -> Frame | None:
    try:
        if row is None or len(row) != 3 or type(row[2]) is not int or not 0 <= row[2] < 1 << 31:
            return None
        return Frame(text(row[0]), text(row[1]), row[2])
    except Malformed:
        return None
