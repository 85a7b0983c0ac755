"""Stacks within a log: found by the few words that introduce them, so that the rest of it is never parsed."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.collector import Collector
from rankandfile.evidence.text.stacks.reader import Reader

#: faulthandler, tracebacks and C++ frames all say "most recent call".
_WORDS = (b"most recent call", b"Stack trace of the failed collective:")
#: Lines before the words that may belong to the stack: who printed it, what the fatal error was.
_BEFORE = 3


def read(path: Path, collector: Collector) -> None:
    """The stacks in this file. Looks at it through a window of memory, whatever its size."""
    size = path.stat().st_size
    offset, number = 0, 1
    with path.open("rb") as file:
        while offset < size and not collector.full:
            base = offset - offset % mmap.ALLOCATIONGRANULARITY
            length = min(bounds.LOG_WINDOW, size - base)
            with mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ, offset=base) as view:
                whole = base + length >= size
                limit = length if whole else view.rfind(b"\n", 0, length - bounds.LOG_OVERLAP) + 1
                # One line that fills the window is no log.
                limit = limit if limit > offset - base else length
                number, reached = _read(view, offset - base, limit, number, collector)
                offset = base + reached


def _read(view: mmap.mmap, start: int, limit: int, number: int, collector: Collector) -> tuple[int, int]:
    """Read what begins before `limit`. The number of the line where it stopped, and where that is."""
    reader = Reader(collector)
    reached = start
    for place in _places(view, start, limit):
        if collector.full:
            collector.note(f"{number}", "more stacks than are kept from one log: the rest is not read")
            break
        if place < reached:
            continue
        first = _lines_before(view, place, reached)
        if first > reached:
            reader.close()
        number += _newlines(view, reached, first)
        reached = first
        for _ in range(bounds.LOG_LINES):
            if reached >= len(view):
                break
            line, following = _line(view, reached)
            reader.feed(number, line)
            number, reached = number + 1, following
            if reached > place and (not reader.reading or reader.idle > bounds.LOG_IDLE):
                break
    reader.close()
    if reached < limit:
        number, reached = number + _newlines(view, reached, limit), limit
    return number, reached


def _places(view: mmap.mmap, start: int, limit: int) -> Iterator[int]:
    """Where one of the words stands, in order."""
    following = [view.find(word, start, limit) for word in _WORDS]
    while any(place >= 0 for place in following):
        nearest = min(place for place in following if place >= 0)
        which = following.index(nearest)
        yield nearest
        following[which] = view.find(_WORDS[which], nearest + 1, limit)


def _lines_before(view: mmap.mmap, place: int, earliest: int) -> int:
    """The beginning of a line a little before this place, or of its own."""
    low = max(earliest, place - bounds.LINE)
    for _ in range(_BEFORE + 1):
        newline = view.rfind(b"\n", low, place)
        if newline < 0:
            return low
        place = newline
    return place + 1


def _newlines(view: mmap.mmap, start: int, end: int) -> int:
    step = 1 << 22
    return sum(view[at : min(end, at + step)].count(b"\n") for at in range(start, end, step))


def _line(view: mmap.mmap, start: int) -> tuple[str, int]:
    """The line that begins here, cut to a bearable length, and where the one after it begins."""
    newline = view.find(b"\n", start)
    end = len(view) if newline < 0 else newline
    text = view[start : min(end, start + bounds.LINE)].decode("utf-8", "replace")
    return text, end + 1
