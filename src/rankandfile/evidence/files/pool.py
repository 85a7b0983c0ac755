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
from rankandfile.evidence.files.worker import Request
from rankandfile.evidence.raw import RawNote

#: Address space of one decoding process, whatever the file; see `worker` for the share of a single file.
MEMORY = 4 << 30

#: Longest a single file may take, plus a share by size: far above any real file, finite for a hostile one.
SECONDS = 60.0
SECONDS_PER_MEGABYTE = 1.0


class Task(NamedTuple):
    path: Path
    name: str
    size: int
    dump_bytes: int = Limits().dump_bytes


def default_jobs() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def decode_all(
    tasks: Sequence[Task],
    receive: Callable[[int, Decoded], None],
    jobs: int | None = None,
    memory: int = MEMORY,
    seconds: float = SECONDS,
) -> None:
    """Decode every task; `receive(index, decoded)` is called from one thread, in no particular order."""
    if not tasks:
        return
    # Largest first: the last file to finish should be a small one.
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in sorted(range(len(tasks)), key=lambda index: -tasks[index].size):
        waiting.put(index)
    # Unbounded: `receive` keeps the answers anyway, and no thread may hang on a result that nobody takes.
    results: queue.SimpleQueue[tuple[int, Decoded]] = queue.SimpleQueue()
    stop = threading.Event()
    count = max(1, min(jobs or default_jobs(), len(tasks)))
    servers = [_Server(tasks, waiting, results, stop, memory, seconds) for _ in range(count)]
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
    ) -> None:
        super().__init__(daemon=True)
        self._tasks, self._waiting, self._results, self._stopped = tasks, waiting, results, stop
        self._memory, self._seconds = memory, seconds
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
        try:
            if self._decoder is None:
                self._decoder = Decoder(self._memory)
            if self._stopped.is_set():
                # `interrupt` came while the process was starting, and found none to end.
                raise BrokenDecoder("given up")
            seconds = self._seconds + SECONDS_PER_MEGABYTE * task.size / 1e6
            return self._decoder.ask(
                Request(os.fsencode(task.path), task.name, task.dump_bytes), task.size, seconds
            )
        except BrokenDecoder as error:
            self._drop()
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
