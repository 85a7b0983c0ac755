"""Decoding processes, kept busy and replaced when a file brings one down."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.decoder import BrokenDecoder, Decoder
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.patience import LATE, SECONDS_PER_MEGABYTE, Patience
from rankandfile.evidence.files.worker import Request
from rankandfile.evidence.raw import RawNote

#: Address space of one decoding process, whatever the file; see `worker` for the share of a single file.
MEMORY = 4 << 30

#: Longest that a single file may take by the clock, plus a share by size: for a disk or a pipe that does not answer.
SECONDS = 60.0


#: A process takes a tenth of a second to start; so much, or so many files, it reads in that time.
_BYTES_PER_PROCESS = 1 << 20
_FILES_PER_PROCESS = 16


#: The kind of a file that was not even tried.
UNREAD = "unread"


class Task(NamedTuple):
    path: Path
    name: str
    size: int
    dump_bytes: int = Limits().dump_bytes


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
) -> None:
    """Decode every task; `receive(index, decoded)` is called from one thread, in no particular order."""
    patience = patience or Patience(Limits().seconds)
    if not tasks:
        return
    # Largest first: the last file to finish should be a small one.
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in sorted(range(len(tasks)), key=lambda index: -tasks[index].size):
        waiting.put(index)
    # Unbounded: `receive` keeps the answers anyway, and no thread may hang on a result that nobody takes.
    results: queue.SimpleQueue[tuple[int, Decoded]] = queue.SimpleQueue()
    stop = threading.Event()
    count = max(1, min(jobs or _worth_starting(tasks), len(tasks)))
    servers = [_Server(tasks, waiting, results, stop, memory, seconds, patience) for _ in range(count)]
    for server in servers:
        server.start()
    try:
        for _ in tasks:
            receive(*results.get())
    finally:
        stop.set()
        for server in servers:
            server.interrupt()
        for server in servers:
            server.join()


class _Server(threading.Thread):
    """Takes files from the queue and has a process of its own decode them."""

    def __init__(
        self,
        tasks: Sequence[Task],
        waiting: queue.SimpleQueue[int],
        results: queue.SimpleQueue[tuple[int, Decoded]],
        stop: threading.Event,
        memory: int,
        seconds: float,
        patience: Patience,
    ) -> None:
        super().__init__(daemon=True)
        self._tasks, self._waiting, self._results, self._stopped = tasks, waiting, results, stop
        self._memory, self._seconds, self._patience = memory, seconds, patience
        self._decoder: Decoder | None = None

    def run(self) -> None:
        try:
            while not self._stopped.is_set():
                try:
                    index = self._waiting.get_nowait()
                except queue.Empty:
                    return
                self._results.put((index, self._decode(self._tasks[index])))
        finally:
            self._drop()

    def _decode(self, task: Task) -> Decoded:
        if refusal := self._patience.refusal(task.name):
            return Decoded(UNREAD, [], [RawNote("", refusal)])
        allowed = self._patience.allowed(task.size)
        try:
            if self._decoder is None:
                self._decoder = Decoder(self._memory)
            if self._stopped.is_set():
                # `interrupt` came while the process was starting, and found none to end.
                raise BrokenDecoder("given up")
            seconds = min(self._seconds + SECONDS_PER_MEGABYTE * task.size / 1e6, self._patience.left() + 0.1)
            request = Request(os.fsencode(task.path), task.name, task.dump_bytes, allowed)
            found = self._decoder.ask(request, task.size, seconds)
            self._patience.took(task.name, task.size, found.seconds)
            return found
        except BrokenDecoder as error:
            self._drop()
            if self._patience.left() <= 0:
                return Decoded(UNREAD, [], [RawNote("", LATE)])
            self._patience.took(task.name, task.size, error.seconds, died=True)
            return Decoded("unreadable", [], [RawNote("", str(error))])

    def interrupt(self) -> None:
        """Whatever it decodes now, nobody waits for it any more."""
        decoder = self._decoder
        if decoder is not None:
            decoder.kill()

    def _drop(self) -> None:
        decoder, self._decoder = self._decoder, None
        if decoder is not None:
            decoder.end()
