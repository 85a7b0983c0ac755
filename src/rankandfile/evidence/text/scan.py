"""The lines of a file that may say something, with their neighbours, in bounded memory however large the file is.

Nothing is skipped for speed's sake except where nothing can follow:

* bytes between literals are never decoded, only counted for line numbers;
* a file of zeros (the rest of a log on a file system that was cut off) ends at the first wholly empty chunk;
* once far more events were seen than are kept, `skip_to` jumps to the end of the file, because the middle of a
  flood would be dropped anyway. The line numbers behind the jump are still right: its newlines are counted.

A log is never taken for finished because a process ended in it: the next attempt may go into the same file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from rankandfile.evidence.text.logs.needles import Finder

CHUNK = 4 << 20

#: How much of the file behind and ahead of a line is at hand for shapes of several lines.
AHEAD = 128 << 10
BEHIND = 32 << 10

#: Longest part of one physical line that is looked at around a literal. Progress bars make lines of megabytes.
LINE = 16 << 10


class Line:
    """One line that may say something, and where it stands."""

    __slots__ = ("_buffer", "_end", "_start", "number", "offset")

    def __init__(self, buffer: bytes, start: int, end: int, offset: int, number: int) -> None:
        self._buffer, self._start, self._end = buffer, start, end
        self.offset = offset
        self.number = number

    @property
    def text(self) -> str:
        return self._buffer[self._start : self._end].decode("utf-8", "replace")

    def after(self) -> Iterator[tuple[int, str]]:
        """The lines below, as far as they are at hand."""
        buffer, start = self._buffer, self._buffer.find(b"\n", self._end) + 1
        shift = self.offset - self._start
        while 0 < start < len(buffer):
            end = buffer.find(b"\n", start)
            end = len(buffer) if end < 0 else end
            yield start + shift, buffer[start : min(end, start + LINE)].decode("utf-8", "replace")
            start = end + 1

    def before(self) -> Iterator[tuple[int, str]]:
        """The lines above, nearest first."""
        buffer = self._buffer
        start = buffer.rfind(b"\n", 0, self._start) + 1
        shift = self.offset - self._start
        while start > 0:
            end, start = start - 1, buffer.rfind(b"\n", 0, start - 1) + 1
            yield start + shift, buffer[start : min(end, start + LINE)].decode("utf-8", "replace")


class Scan:
    """Iterate it for the lines; `lines` and `bytes` say afterwards how much there was."""

    def __init__(self, file: BinaryIO, find: Finder) -> None:
        self._file, self._find = file, find
        self.lines = 0
        self.bytes = 0
        self.empty_from: int | None = None
        self._skip_to: int | None = None

    def skip_to(self, offset: int) -> None:
        """Look at nothing before that place in the file."""
        self._skip_to = offset

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
            counted = begin
            if self._skip_to is None or base + end > self._skip_to:
                for start, stop in self._candidates(buffer, begin, end):
                    number += buffer.count(b"\n", counted, start)
                    counted = start
                    yield Line(buffer, start, stop, base + start, number)
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

    def _candidates(self, buffer: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
        done = begin
        for position in self._find(buffer, begin, end):
            if position < done:
                continue
            low = max(done, position - LINE, 0)
            start = max(buffer.rfind(b"\n", low, position) + 1, low)
            stop = buffer.find(b"\n", position, position + LINE)
            stop = min(position + LINE, len(buffer)) if stop < 0 else stop
            # In a line of progress bars, the carriage returns are what separates.
            start = max(buffer.rfind(b"\r", start, position) + 1, start)
            yield start, stop
            done = stop
