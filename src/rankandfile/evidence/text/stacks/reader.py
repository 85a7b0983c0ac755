"""Reading stacks from lines of text: any format, any mix of them, any prefixes, several writers at once."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankandfile.evidence.text.stacks import (
    bounds,
    cpp,
    debug_server,
    faulthandler,
    native,
    pyspy_text,
    tracebacks,
    watchdog,
)
from rankandfile.evidence.text.stacks.collector import Collector
from rankandfile.evidence.text.stacks.prefixes import peel
from rankandfile.evidence.text.stacks.stream import Format, Stream

#: A new format is one module with such a function, named here.
FORMATS: tuple[Format, ...] = (
    debug_server.open,
    faulthandler.open,
    pyspy_text.open,
    tracebacks.open,
    watchdog.open,
    native.open,
    cpp.open,
)

#: What any line that begins something contains: most lines of a log do not.
_INTERESTING = re.compile(
    r"most recent call|Process |process |Thread |Fatal Python|Timeout \(|=== Rank|PARTIAL DATA"
    r"|Stack trace of|exception|Exception|#0 |TID |PID "
)


class Reader:
    """Feeds each writer's lines to what is being read of it."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.reading = 0
        """How many stacks are being read: begun, and not known to be over."""
        self.idle = 0
        """Lines since the last one that belonged to a stack."""
        self._streams: dict[str, Stream] = {}

    def feed(self, number: int, line: str) -> None:
        self.idle += 1
        peeled = peel(line)
        stream = self._streams.get(peeled.key)
        if stream is None:
            if not _INTERESTING.search(peeled.text):
                return
            if len(self._streams) >= bounds.STREAMS:
                self.collector.note(str(number), "too many writers take turns: the rest is not read")
                return
            stream = self._streams[peeled.key] = Stream(self.collector)
        text = peeled.text
        if stream.block is not None:
            taken = stream.block.feed(text)
            if taken:
                self.idle = 0
            if not taken or stream.block.complete:
                self._end(stream)
            if taken:
                return
        if not _INTERESTING.search(text):
            return
        if peeled.rank is not None:
            stream.rank, stream.rank_from = peeled.rank, "prefix"
        elif stream.rank_from == "prefix":
            # A bare line may be anybody's.
            stream.rank, stream.rank_from = None, ""
        if peeled.at_ns is not None:
            stream.at_ns = peeled.at_ns
        for format in FORMATS:
            stream.block = format(number, text, stream)
            if stream.block is not None:
                self.reading += 1
                self.idle = 0
                return

    def _end(self, stream: Stream) -> None:
        block, stream.block = stream.block, None
        self.reading -= 1
        if block is not None:
            block.close()

    def close(self) -> None:
        """All lines have been fed, or those that follow stand elsewhere."""
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()
        self.reading = 0


def read_lines(lines: Iterable[tuple[int, str]], collector: Collector) -> None:
    reader = Reader(collector)
    for number, line in lines:
        if collector.full:
            break
        reader.feed(number, line)
    reader.close()
