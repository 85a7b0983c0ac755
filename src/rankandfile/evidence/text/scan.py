"""The lines of a file that may say something, with their neighbours, in bounded memory however large the file is.

Nothing is skipped for speed's sake except where nothing can follow:

* bytes between literals are never decoded, only counted for line numbers;
* a file of zeros (the rest of a log on a file system that was cut off) ends at the first wholly empty chunk;
* once far more events were seen than are kept, only stacks are looked for until near the end of the file, because the
  middle of a flood would be dropped anyway. Line numbers stay right: newlines are counted.

A log is never taken for finished because a process ended in it: the next attempt may go into the same file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from rankandfile.evidence.text.prefixes import peel

from .bare_line import BareLine
from .written_lines import pieces

#: Positions in `buffer[begin:end]` inside literals (or where one may be), ascending.
Finder = Callable[[bytes, int, int], Sequence[int]]

CHUNK = 4 << 20

#: How much of the file behind and ahead of a line is at hand for shapes of several lines.
AHEAD = 1 << 20
BEHIND = 32 << 10

#: Longest part of one physical line that is looked at around a literal. Progress bars make lines of megabytes.
LINE = 16 << 10


#: Lines that are remembered as they were taken apart: more than any block has.
_MOST_TAKEN = 4096


class Window:
    """The part of a file that is at hand, and what its lines were taken apart to: nobody does that twice."""

    __slots__ = ("_taken", "base", "buffer")

    def __init__(self, buffer: bytes, base: int) -> None:
        self.buffer, self.base = buffer, base
        self._taken: dict[int, Sequence[BareLine]] = {}

    def text(self, start: int, end: int) -> str:
        return self.buffer[start : min(end, start + LINE)].decode("utf-8", "replace")

    def taken(self, start: int, end: int) -> Sequence[BareLine]:
        found = self._taken.get(start)
        if found is None:
            if len(self._taken) == _MOST_TAKEN:
                self._taken.clear()
            # What a carriage return has wiped away is no line of anybody's.
            text = self.text(start, end).rstrip("\r").rpartition("\r")[2]
            found = self._taken[start] = [peel(piece) for piece in pieces(text)]
        return found


class Line:
    """One line that may say something, and where it stands."""

    __slots__ = ("_end", "_start", "_text", "_window", "number", "offset", "tells")

    def __init__(self, window: Window, start: int, end: int, number: int, tells: bool = True) -> None:
        self._window, self._start, self._end = window, start, end
        self._text: str | None = None
        self.offset = window.base + start
        self.number = number
        self.tells = tells
        """It has one of the literals that are looked for."""

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = self._window.buffer[self._start : self._end].decode("utf-8", "replace")
        return self._text

    @property
    def taken(self) -> Sequence[BareLine]:
        """The lines that its writers wrote, taken apart."""
        return self._window.taken(self._start, self._end)

    def after(self) -> Iterator[tuple[int, str]]:
        """The lines below, as far as they are at hand."""
        base = self._window.base
        return ((base + start, self._window.text(start, end)) for start, end in self._below())

    def below(self) -> Iterator[tuple[int, Sequence[BareLine]]]:
        """The lines below, taken apart."""
        base = self._window.base
        return ((base + start, self._window.taken(start, end)) for start, end in self._below())

    def before(self) -> Iterator[tuple[int, str]]:
        """The lines above, nearest first."""
        base = self._window.base
        return ((base + start, self._window.text(start, end)) for start, end in self._above())

    def above(self) -> Iterator[tuple[int, Sequence[BareLine]]]:
        """The lines above, nearest first, taken apart."""
        base = self._window.base
        return ((base + start, self._window.taken(start, end)) for start, end in self._above())

    def _below(self) -> Iterator[tuple[int, int]]:
        buffer = self._window.buffer
        start = buffer.find(b"\n", self._end) + 1
        while 0 < start < len(buffer):
            end = buffer.find(b"\n", start)
            end = len(buffer) if end < 0 else end
            yield start, end
            start = end + 1

    def _above(self) -> Iterator[tuple[int, int]]:
        buffer = self._window.buffer
        start = buffer.rfind(b"\n", 0, self._start) + 1
        while start > 0:
            end, start = start - 1, buffer.rfind(b"\n", 0, start - 1) + 1
            yield start, end


class Scan:
    """Iterate it for the lines; `lines` and `bytes` say afterwards how much there was."""

    def __init__(self, file: BinaryIO, find: Finder, every: bool = False) -> None:
        self._file, self._find, self._every = file, find, every
        self.lines = 0
        self.bytes = 0
        self.empty_from: int | None = None
        self._rest: tuple[int, Finder] | None = None

    def only(self, find: Finder, until: int) -> None:
        """Look for other literals up to that place in the file."""
        self._rest = until, find

    def __iter__(self) -> Iterator[Line]:
        buffer, base, begin, number = b"", 0, 0, 1
        while True:
            data = self._file.read(CHUNK)
            last = len(data) < CHUNK
            self.bytes += len(data)
            if data and not data.strip(b"\0"):
                self.empty_from = self.bytes - len(data)
                data, last = b"", True
            keep = max(0, begin - BEHIND)
            buffer, base, begin = buffer[keep:] + data, base + keep, begin - keep
            end = len(buffer) if last else self._whole_lines(buffer, begin)
            window, counted = Window(buffer, base), begin
            for start, stop, tells in self._candidates(buffer, base, begin, end):
                number += buffer.count(b"\n", counted, start)
                counted = start
                yield Line(window, start, stop, number, tells)
            number += buffer.count(b"\n", counted, end)
            begin = end
            if last:
                self.lines = number - 1 + (not buffer.endswith(b"\n") and bool(buffer))
                return

    def _whole_lines(self, buffer: bytes, begin: int) -> int:
        """Where the lines end that have enough lines behind them."""
        end = buffer.rfind(b"\n", begin, max(begin, len(buffer) - AHEAD)) + 1
        # One endless line: go on anyway, in the middle of it.
        return end if end > begin else max(begin, len(buffer) - AHEAD)

    def _candidates(self, buffer: bytes, base: int, begin: int, end: int) -> Iterator[tuple[int, int, bool]]:
        find, tells = self._find, True
        if self._rest is not None:
            if base + end <= self._rest[0]:
                find, tells = self._rest[1], False
            else:
                self._rest = None
        done = begin
        for position in find(buffer, begin, end):
            if position < done:
                continue
            low = max(done, position - LINE, 0)
            start = max(buffer.rfind(b"\n", low, position) + 1, low)
            stop = buffer.find(b"\n", position, position + LINE)
            stop = min(position + LINE, len(buffer)) if stop < 0 else stop
            # In a line of progress bars, the carriage returns are what separates.
            start = max(buffer.rfind(b"\r", start, position) + 1, start)
            if self._every:
                yield from _between(buffer, done, start)
            yield start, stop, tells
            done = stop
        if self._every:
            yield from _between(buffer, done, end)


def _between(buffer: bytes, begin: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """The whole lines that begin between two others."""
    start = begin if begin == 0 or buffer[begin - 1 : begin] == b"\n" else buffer.find(b"\n", begin, end) + 1
    while 0 <= start < end and (start or begin == 0):
        stop = buffer.find(b"\n", start, end)
        if stop < 0:
            if end == len(buffer):
                yield start, end, False
            return
        yield start, stop, False
        start = stop + 1
