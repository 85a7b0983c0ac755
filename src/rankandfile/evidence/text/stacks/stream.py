"""One writer's lines: which snapshot they belong to, and which format is being read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from rankandfile.evidence.text.stacks.collector import Collector, Draft
from rankandfile.evidence.text.stacks.raw import RawProcess


class Block(Protocol):
    """A stack being read, line by line."""

    complete: bool
    """It needs no further line."""

    def feed(self, text: str) -> bool:
        """Take the line; False if it is not of this stack, which is then closed."""

    def close(self) -> None:
        """The stack is over: hand it in."""


class Format(Struct, frozen=True):
    """A way of writing stacks."""

    begins: str
    """A pattern that any line has which begins something: most lines of a log have it not."""
    open: Callable[[int, str, Stream], Block | None]
    """A block, if the line with this number and text begins one. It may also just take note of what the line tells."""


class Stream:
    """What one writer has told so far."""

    def __init__(self, collector: Collector, rank: int | None = None, rank_from: str = "") -> None:
        self.collector = collector
        self.rank = rank
        self.rank_from = rank_from
        self.host: str | None = None
        self.at_ns: int | None = None
        self.place: int | None = None
        """Its number among the processes of its machine or launcher, where a prefix tells it."""
        self.headed: int | None = None
        """The rank that a heading names: of the one snapshot below it."""
        self.headed_pid: int | None = None
        """Its process, likewise."""
        self.later: list[int] = []
        """When the looks after the first one were taken, where a heading tells the times of several."""
        self.block: Block | None = None
        self.process: int | None = None
        """The snapshot being read."""
        self.thread_name = ""
        """Of the thread whose exception comes next."""
        self.ignored = False
        """The exception that comes next had no effect."""
        self.last_raised: int | None = None
        """Row of the last exception's traceback."""
        self.connected = False
        """The exception that comes next arose from the last one."""
        self._seen: set[object] = set()

    def record(self, pid: int | None = None, parent: int | None = None, error: str = "") -> RawProcess:
        return RawProcess(self.rank, self.rank_from, self.host, pid, parent, self.at_ns, error, self.place)

    def begin(self, pid: int | None = None, parent: int | None = None, error: str = "") -> int:
        """A new snapshot of a process begins here."""
        self.end()
        record = self.record(pid if pid is not None else self.headed_pid, parent, error)
        if self.headed is not None and record.rank is None:
            record.rank, record.rank_from = self.headed, "content"
        self.headed = self.headed_pid = None
        self.process = self.collector.process(record)
        return self.process

    def end(self) -> None:
        """The snapshot that was being read is complete."""
        if self.process is not None:
            self.collector.settle(self.process)
        self.process = None
        self._seen.clear()

    def snapshot_with(self, thread: object) -> int:
        """The snapshot that a thread belongs to. No thread is in one twice: it would be the next one's."""
        if self.process is None:
            self.begin()
        elif thread is not None and thread in self._seen:
            last = self.collector.processes[self.process]
            if self.later:
                self.at_ns = self.later.pop(0)
            self.begin(pid=last.pid)
            now = self.collector.processes[self.process]
            if now.rank is None:
                now.rank, now.rank_from = last.rank, last.rank_from
        self._seen.add(thread)
        assert self.process is not None
        return self.process

    def add_alone(self, draft: Draft, format: str) -> int:
        """A stack that belongs to no snapshot: of an exception, of a call. Its row."""
        process = self.collector.process(self.record())
        row = len(self.collector.threads)
        self.collector.add(process, draft, format)
        self.collector.settle(process)
        return row

    def close(self) -> None:
        if self.block is not None:
            block, self.block = self.block, None
            block.close()
        self.end()
