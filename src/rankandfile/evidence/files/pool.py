"""Decoding processes, kept busy and replaced when a file brings one down."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rankandfile.evidence.files.addresses import Left
from rankandfile.evidence.files.decoded import UNREAD, Decoded
from rankandfile.evidence.files.decoder import BrokenDecoder, Decoder
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.patience import LATE, SECONDS_PER_MEGABYTE, Patience
from rankandfile.evidence.files.worker import Request
from rankandfile.evidence.raw import RawNote

#: Address space of one decoding process, whatever the file; see `worker` for the share of a single file.
MEMORY = 4 << 30

#: Longest that nothing may be done for a single file, plus a share by size: for a disk or a pipe that does not answer.
SECONDS = 60.0


#: A process takes a tenth of a second to start; so much, or so many files, it reads in that time.
_BYTES_PER_PROCESS = 1 << 20
_FILES_PER_PROCESS = 64


class Task(NamedTuple):
    path: Path
    name: str
    size: int
    dump_bytes: int = Limits().dump_bytes
    left: Left | None = None
    """Where the content is, if not at the path: for an engine that reads objects."""


Batch = Sequence[int]
"""Tasks, by their numbers, that one request asks for."""
Answers = list[tuple[int, Decoded]]

#: Files up to this size are asked for together, so many at most: asking for one takes as long as reading it.
_SMALL = 16 << 10
_TOGETHER = 128


def _batches(tasks: Sequence[Task], servers: int) -> Iterator[Batch]:
    """All tasks, the largest first: the last file to finish should be a small one."""
    order = sorted(range(len(tasks)), key=lambda index: -tasks[index].size)
    small = next((n for n, index in enumerate(order) if tasks[index].size <= _SMALL), len(order))
    yield from ([index] for index in order[:small])
    together = max(1, min(_TOGETHER, (len(order) - small) // (8 * servers)))
    yield from (order[at : at + together] for at in range(small, len(order), together))


def default_jobs() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _worth_starting(tasks: Sequence[Task]) -> int:
    """As many processes as there are processors; fewer where one would have read it all before the others begin."""
    work = sum(task.size for task in tasks) // _BYTES_PER_PROCESS + len(tasks) // _FILES_PER_PROCESS
    return min(default_jobs(), 1 + work)


def decode_all(
    tasks: Sequence[Task],
    receive: Callable[[int, Decoded], None],
    jobs: int | None = None,
    memory: int = MEMORY,
    seconds: float = SECONDS,
    patience: Patience | None = None,
    wants_lines: Callable[[], bool] = lambda: True,
) -> None:
    """Decode every task; `receive(index, decoded)` is called from one thread, in no particular order.

    `wants_lines`: whether the lines of one more log are still worth keeping.
    """
    patience = patience or Patience(Limits().seconds)
    if not tasks:
        return
    count = max(1, min(jobs or _worth_starting(tasks), len(tasks)))
    waiting: queue.SimpleQueue[Batch] = queue.SimpleQueue()
    for batch in _batches(tasks, count):
        waiting.put(batch)
    # Unbounded: `receive` keeps the answers anyway, and no thread may hang on a result that nobody takes.
    results: queue.SimpleQueue[Answers | Exception] = queue.SimpleQueue()
    stop = threading.Event()
    servers = [
        _Server(tasks, waiting, results, stop, memory, seconds, patience, wants_lines) for _ in range(count)
    ]
    try:
        # Within: a signal that ends us may come when one has begun.
        for server in servers:
            server.start()
        missing = len(tasks)
        while missing:
            answers = results.get()
            if isinstance(answers, Exception):
                raise answers
            for index, decoded in answers:
                receive(index, decoded)
                missing -= 1
    finally:
        stop.set()
        begun = [server for server in servers if server.ident is not None]
        for server in begun:
            server.interrupt()
        for server in begun:
            server.join()


class _Server(threading.Thread):
    """Takes files from the queue and has a process of its own decode them."""

    def __init__(
        self,
        tasks: Sequence[Task],
        waiting: queue.SimpleQueue[Batch],
        results: queue.SimpleQueue[Answers | Exception],
        stop: threading.Event,
        memory: int,
        seconds: float,
        patience: Patience,
        wants_lines: Callable[[], bool],
    ) -> None:
        super().__init__(daemon=True)
        self._tasks, self._waiting, self._results, self._stopped = tasks, waiting, results, stop
        self._memory, self._seconds, self._patience = memory, seconds, patience
        self._wants_lines = wants_lines
        self._decoder: Decoder | None = None

    def run(self) -> None:
        try:
            while not self._stopped.is_set():
                try:
                    batch = self._waiting.get_nowait()
                except queue.Empty:
                    return
                found = self._together(batch) if len(batch) > 1 else None
                self._results.put(found or [(index, self._decode(self._tasks[index])) for index in batch])
        except Exception as error:
            # A thread that fell silent would be waited for for ever.
            self._results.put(error)
        finally:
            self._drop()

    def _together(self, batch: Batch) -> Answers | None:
        """Small files in one request; None if one of them is to be refused, or brought the process down."""
        tasks = [self._tasks[index] for index in batch]
        if any(self._patience.refusal(task.name) for task in tasks):
            return None
        try:
            found = self._ask(tasks)
        except BrokenDecoder:
            self._drop()
            return None
        for task, decoded in zip(tasks, found, strict=True):
            self._patience.took(task.name, task.size, decoded.seconds)
        return list(zip(batch, found, strict=True))

    def _ask(self, tasks: Sequence[Task]) -> list[Decoded]:
        if self._decoder is None:
            self._decoder = Decoder(self._memory)
        if self._stopped.is_set():
            # `interrupt` came while the process was starting, and found none to end.
            raise BrokenDecoder("given up")
        size = sum(task.size for task in tasks)
        seconds = self._seconds + SECONDS_PER_MEGABYTE * size / 1e6
        lines = self._wants_lines()
        requests = [
            Request(
                os.fsencode(task.path), task.name, task.dump_bytes, self._patience.allowed(task.size), lines
            )
            for task in tasks
        ]
        return self._decoder.ask(requests, size, seconds, self._patience.left() + 0.1)

    def _decode(self, task: Task) -> Decoded:
        if refusal := self._patience.refusal(task.name):
            return Decoded(UNREAD, [], [RawNote("", refusal)])
        try:
            (found,) = self._ask([task])
            self._patience.took(task.name, task.size, found.seconds)
            return found
        except BrokenDecoder as error:
            self._drop()
            if self._patience.left() <= 0:
                return Decoded(UNREAD, [], [RawNote("", LATE)])
            self._patience.took(task.name, task.size, error.seconds, died=True)
            return Decoded("unreadable", [], [RawNote("", str(error))], seconds=error.seconds)

    def interrupt(self) -> None:
        """Whatever it decodes now, nobody waits for it any more."""
        decoder = self._decoder
        if decoder is not None:
            decoder.kill()

    def _drop(self) -> None:
        decoder, self._decoder = self._decoder, None
        if decoder is not None:
            decoder.end()
