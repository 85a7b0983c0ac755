"""Dumps that the native reader reads: in this process, as it holds no lock while it reads, and hands nothing over.

Its own bounds take the place of a decoding process's: it takes regular and whole files alone, in a time and a memory
that their size bounds. All others are left to the decoding processes.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import SECONDS, Task, default_jobs
from rankandfile.evidence.flight.native import Read

#: Larger files are left to decoding processes, and so are smaller ones: those that hold no call.
MOST, LEAST = 64 << 20, 256
#: Files that are read at a time, and as much of them: what is read is taken over with Python's lock held, each time.
_FILES, _BYTES = 32, 8 << 20
#: A thread is started for so much.
_BYTES_PER_THREAD = 4 << 20

Found = Sequence[tuple[int, Decoded | None]]


def read(
    tasks: Sequence[Task],
    receive: Callable[[int, Decoded], None],
    native: Read,
    jobs: int | None,
    patience: Patience,
) -> list[int]:
    """Give what these files hold to `receive`, by the numbers of the tasks; return those that are left to be read."""
    waiting: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
    size = 0
    for batch in _batches(tasks):
        waiting.put(batch)
        size += sum(tasks[index].size for index in batch)
    results: queue.SimpleQueue[Found | None] = queue.SimpleQueue()
    threads = [
        threading.Thread(target=_work, args=(tasks, waiting, results, native, patience), daemon=True)
        for _ in range(min(jobs or default_jobs(), 1 + size // _BYTES_PER_THREAD))
    ]
    left = set(range(len(tasks)))
    answering = True
    try:
        for thread in threads:
            thread.start()
        at_work = len(threads)
        while at_work:
            found = results.get(timeout=SECONDS)
            at_work -= found is None
            for index, decoded in found or ():
                if decoded is not None:
                    left.discard(index)
                    receive(index, decoded)
    except queue.Empty:
        # A disk does not answer. A process that waits for it can be ended, but no thread.
        answering = False
    finally:
        while _next(waiting):
            pass
        for thread in threads:
            if answering and thread.ident is not None:
                thread.join()
    return sorted(left)


def _batches(tasks: Sequence[Task]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for index, task in enumerate(tasks):
        # By this ending an archive is told.
        if not LEAST <= task.size <= min(MOST, task.dump_bytes) or task.name.lower().endswith(".tar"):
            continue
        batch.append(index)
        size += task.size
        if len(batch) == _FILES or size > _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _next(waiting: queue.SimpleQueue[list[int]]) -> list[int]:
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return []


def _work(
    tasks: Sequence[Task],
    waiting: queue.SimpleQueue[list[int]],
    results: queue.SimpleQueue[Found | None],
    native: Read,
    patience: Patience,
) -> None:
    from rankandfile.evidence.flight.native_dumps import decoded

    try:
        while (batch := _next(waiting)) and patience.left() > 0:
            # Whatever fails here, Python's reader may not: what has no answer is left to it.
            with suppress(Exception):
                answers = native([os.fsencode(tasks[index].path) for index in batch], MOST)
                found = [None if answer is None else decoded(answer) for answer in answers]
                results.put(list(zip(batch, found, strict=True)))
    finally:
        results.put(None)
