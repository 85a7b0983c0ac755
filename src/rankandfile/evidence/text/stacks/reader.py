"""Reading stacks from lines of text: any format, any mix of them, any prefixes, several writers at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from rankandfile import listing
from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.scan import Line
from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.announced import Announced
from rankandfile.evidence.text.stacks.collector import Collector
from rankandfile.evidence.text.stacks.stream import Format, Stream


@cache
def formats() -> tuple[Sequence[Format], re.Pattern[str]]:
    """All ways of writing stacks, and what any line has that begins something in one of them."""
    found = listing.members(f"{__package__}.formats", "FORMAT", Format)
    return found, re.compile("|".join(format.begins for format in found))


class Reader:
    """Feeds each writer's lines to what is being read of it."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self._reading = 0
        """How many stacks are being read: begun, and not known to be over."""
        self._idle = 0
        """Lines since the last one that belonged to a stack."""
        self._streams: dict[str, Stream] = {}
        self._announced = Announced()
        self._formats, self._interesting = formats()

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

    def feed(self, number: int, taken: Sequence[BareLine]) -> None:
        """One line, as its writers wrote it."""
        self._idle += 1
        for bare in taken:
            self._feed(number, bare, bare.indented)
            self._announced.hear(number, bare)

    def _feed(self, number: int, bare: BareLine, text: str) -> None:
        stream = self._streams.get(bare.key)
        if stream is None:
            if not self._interesting.search(text):
                return
            if len(self._streams) >= bounds.STREAMS:
                self.collector.note(str(number), "too many writers take turns: the rest is not read")
                return
            stream = self._streams[bare.key] = Stream(self.collector)
        if stream.block is not None:
            taken = stream.block.feed(text)
            if taken:
                self._idle = 0
            if not taken or stream.block.complete:
                self._end(stream)
            if taken:
                return
        if not self._interesting.search(text):
            return
        if bare.rank_from in ("prefix", "mpirun"):
            stream.rank, stream.rank_from = bare.rank, bare.rank_from
        elif stream.rank_from == "prefix":
            # A bare line may be anybody's.
            stream.rank, stream.rank_from = None, ""
        stream.place = bare.local_rank if bare.task is None else bare.task
        if bare.time is not None and bare.time.quality in ("wall", "zoned"):
            stream.at_ns = bare.time.ns
        told = self._announced.above(number, bare) if stream.rank is None and stream.headed is None else None
        if told is not None:
            stream.end()
            stream.headed = told
        self._begin(number, text, stream)
        if told is not None and stream.process is None:
            stream.headed = None

    def _begin(self, number: int, text: str, stream: Stream) -> None:
        for format in self._formats:
            stream.block = format.open(number, text, stream)
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
