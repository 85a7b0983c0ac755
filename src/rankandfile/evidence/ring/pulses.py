"""Where the main thread was while its process recorded nothing: the last two such moments, as snapshots."""

from __future__ import annotations

from typing import Any

from rankandfile.evidence.flight.interning import MAX_FRAMES, Malformed, text
from rankandfile.evidence.raw import Frame, Repeats, pack
from rankandfile.evidence.text.stacks.raw import RawProcess, RawStacks, RawThread
from rankandfile.wire import layout
from rankandfile.wire.layout import Record
from rankandfile.wire.reading import Contents

#: Two tell whether it moves.
MOST = 2


def pulses(contents: Contents, rank: int | None) -> RawStacks | None:
    """Snapshots of the process, if it fell silent and stayed so."""
    found: list[Record] = []
    for kept in reversed(contents.records):
        if kept.record.kind != layout.PULSE or len(found) == MOST:
            break
        found.append(kept.record)
    header = contents.header
    host = header.host.split(b"\0")[0].decode("utf-8", "replace")
    stacks, repeats = RawStacks(formats=["ring"]), Repeats()
    for record in reversed(found):
        frames = _frames(contents, record.stack)
        if not frames:
            continue
        numbers = []
        for frame in frames:
            numbers.append(len(repeats.frames))
            repeats.frames.append(frame)
        process = RawProcess(rank, "content" if rank is not None else "", host, header.pid, header.parent)
        process.at_ns = record.wall_ns
        stacks.processes.append(process)
        thread = RawThread(record.number, len(stacks.processes) - 1, len(repeats.stacks), name="MainThread")
        thread.role = "main"
        stacks.threads.append(thread)
        repeats.stacks.append(tuple(numbers))
    stacks.repeats = pack(repeats)
    return stacks if stacks.threads else None


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
