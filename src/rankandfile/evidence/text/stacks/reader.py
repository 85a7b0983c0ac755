"""Reading stacks from lines of text: any format, any mix of them, any prefixes, several writers at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankandfile.evidence.text.peeled import Peeled
from rankandfile.evidence.text.scan import Line
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
        self._reading = 0
        """How many stacks are being read: begun, and not known to be over."""
        self._idle = 0
        """Lines since the last one that belonged to a stack."""
        self._streams: dict[str, Stream] = {}

    @property
    def busy(self) -> bool:
        """Some stack is being read, and has not been given up."""
        return self._reading > 0 and self._idle <= bounds.LOG_IDLE

    def take(self, line: Line) -> None:
        """One line of a file of stacks: all of them are to be given."""
        if self.collector.full:
            return
        if line.offset > bounds.TEXT_FILE:
            what = f"larger than {bounds.TEXT_FILE:,} bytes: the rest is not read"
            self.collector.note(str(line.number), what)
            return
        self.feed(line.number, line.taken)

    def feed(self, number: int, taken: Sequence[Peeled]) -> None:
        """One line, as its writers wrote it."""
        self._idle += 1
        for peeled in taken:
            self._feed(number, peeled, peeled.indented)

    def _feed(self, number: int, peeled: Peeled, text: str) -> None:
        stream = self._streams.get(peeled.key)
        if stream is None:
            if not _INTERESTING.search(text):
                return
            if len(self._streams) >= bounds.STREAMS:
                self.collector.note(str(number), "too many writers take turns: the rest is not read")
                return
            stream = self._streams[peeled.key] = Stream(self.collector)
        if stream.block is not None:
            taken = stream.block.feed(text)
            if taken:
                self._idle = 0
            if not taken or stream.block.complete:
                self._end(stream)
            if taken:
                return
        if not _INTERESTING.search(text):
            return
        if peeled.rank_from == "prefix":
            stream.rank, stream.rank_from = peeled.rank, "prefix"
        elif stream.rank_from == "prefix":
            # A bare line may be anybody's.
            stream.rank, stream.rank_from = None, ""
        if peeled.time is not None and peeled.time.quality in ("wall", "zoned"):
            stream.at_ns = peeled.time.ns
        for format in FORMATS:
            stream.block = format(number, text, stream)
            if stream.block is not None:
                self._reading += 1
                self._idle = 0
                return

    def _end(self, stream: Stream) -> None:
        block, stream.block = stream.block, None
        self._reading -= 1
        if block is not None:
            block.close()

    def close(self) -> None:
        """All lines have been fed, or those that follow stand elsewhere."""
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()
        self._reading = 0
