"""Stacks within a log: found by the few words that introduce them, so that the rest of it is never parsed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.logs.needles import plain
from rankandfile.evidence.text.scan import Line
from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.reader import Reader

#: faulthandler, tracebacks and C++ frames all say "most recent call". Each is part of some log shape's literal.
#: py-spy begins with the program's own thread.
_WORDS = (
    "most recent call",
    "Stack trace of the failed collective:",
    '): "MainThread"',
    "Traceback for thread ",
    "STACK TRACE FOR PROC ",
    " (Thread 0x",
)
#: Lines before the words that may belong to the stack: who printed it, what the fatal error was.
_BEFORE = 6

#: Looks for these words alone.
words = plain([word.encode() for word in _WORDS])


class InLog:
    """Takes the lines that may say something, in their order, and reads around those that introduce a stack."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._next = 1
        """Number of the first line that has not been fed: none is fed twice."""

    def take(self, line: Line) -> None:
        if line.number < self._next:
            return
        text = line.text
        for word in _WORDS:
            if word in text:
                break
        else:
            return
        reader = self._reader
        if reader.collector.full:
            what = "more stacks than are kept from one log: the rest is not read"
            reader.collector.note(str(line.number), what)
            return
        above = list(islice(line.above(), min(_BEFORE, line.number - self._next)))
        if line.number - len(above) > self._next:
            reader.close()
        self._next = line.number - len(above)
        for _, taken in reversed(above):
            self._feed(taken)
        self._feed(line.taken)
        below = islice(line.below(), bounds.LOG_LINES)
        while reader.busy and (following := next(below, None)) is not None:
            self._feed(following[1])

    def _feed(self, taken: Sequence[BareLine]) -> None:
        self._reader.feed(self._next, taken)
        self._next += 1
