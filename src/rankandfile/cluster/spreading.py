"""The files of one load, given out in shares as tasks of Ray, and taken in as they are done."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from rankandfile.evidence.files.blobs import shown
from rankandfile.evidence.files.decoded import UNREAD, Decoded
from rankandfile.evidence.files.engine import Receive
from rankandfile.evidence.files.patience import LATE, Patience
from rankandfile.evidence.files.pool import Task
from rankandfile.evidence.objects.at_hand import fetch
from rankandfile.evidence.raw import RawNote

from . import share
from .connection import last_words
from .on_ray import MOST_SENT

Share = Sequence[int]
"""Files, by the numbers of their tasks."""

#: A share is no more, but for a single file: what travels is in the memory of both ends.
_BYTES, _FILES = 16 << 20, 128
#: For each processor so many shares, if there are files enough: some are done sooner than others.
_EACH = 4
#: How often Ray runs a task again whose worker has died.
_AGAIN = 3


def shares(tasks: Sequence[Task], processors: int) -> Iterator[Share]:
    """All files, the largest first."""
    most = max(1, min(_FILES, len(tasks) // (_EACH * processors)))
    held: list[int] = []
    size = 0
    for index in sorted(range(len(tasks)), key=lambda index: -tasks[index].size):
        if held and (len(held) == most or size + tasks[index].size > _BYTES):
            yield held
            held, size = [], 0
        held.append(index)
        size += tasks[index].size
    if held:
        yield held


class Spreading:
    def __init__(
        self, tasks: Sequence[Task], receive: Receive, patience: Patience, wants_lines: Callable[[], bool]
    ) -> None:
        self.here: list[int] = []
        """Those that are too large to travel."""
        self._tasks, self._receive, self._patience = tasks, receive, patience
        self._wants_lines = wants_lines
        self._waiting: deque[Share] = deque()
        self._running: dict[Any, Share] = {}
        self._unseen: set[Path] = set()
        """Folders that the cluster's machines do not have: their files are sent at once."""
        self._decode = ray.remote(max_retries=_AGAIN)(share.decoded)

    def run(self, processors: int, at_once: int) -> None:
        self._waiting.extend(shares(self._tasks, processors))
        try:
            while self._waiting or self._running:
                while self._waiting and len(self._running) < at_once:
                    self._ask(self._waiting.popleft())
                left = self._patience.left()
                done, _ = ray.wait(list(self._running), timeout=left) if self._running else ([], [])
                if not done and left <= 0:
                    self._give_up()
                for one in done:
                    self._take(self._running.pop(one), one)
        finally:
            for one in self._running:
                ray.cancel(one, force=True)

    def _ask(self, wanted: Share) -> None:
        going: list[int] = []
        files: list[share.File] = []
        for index in wanted:
            if refusal := self._patience.refusal(self._tasks[index].name):
                self._receive(index, Decoded(UNREAD, [], [RawNote("", refusal)]))
            elif (file := self._file(index)) is not None:
                going.append(index)
                files.append(file)
        if files:
            asked = self._decode.remote(files, self._patience.left(), self._wants_lines())
            self._running[asked] = going

    def _file(self, index: int) -> share.File | None:
        """None where there is nothing to send: that was said then, or it is left to this machine."""
        task = self._tasks[index]
        left, content = task.left, None
        try:
            if task.path.parent in self._unseen:
                if left is not None:
                    fetch(left, task.size, task.path, self._patience.left())
                    left = None
                if task.path.stat().st_size > MOST_SENT:
                    self.here.append(index)
                    return None
                content = task.path.read_bytes()
            status = task.path.stat()
        except OSError as error:
            what = f"cannot be read: {error.strerror or error}"
            self._receive(index, Decoded("unreadable", notes=[RawNote("", what)]))
            return None
        path = os.fsencode(task.path.absolute())
        return share.File(path, task.name, status.st_size, status.st_mtime_ns, task.dump_bytes, left, content)

    def _take(self, asked: Share, answer: Any) -> None:
        try:
            lacking, packed = ray.get(answer)
        except RayError as error:
            if len(asked) > 1:
                # One of them may be what its workers died of.
                self._waiting.extend([index] for index in asked)
            else:
                self._receive(asked[0], _failed(error))
            return
        missing = [asked[number] for number in lacking]
        there = [index for index in asked if index not in set(missing)]
        for index, decoded in zip(there, share.unpack(packed), strict=True):
            task = self._tasks[index]
            self._patience.took(task.name, task.size, decoded.seconds, died=decoded.kind == "unreadable")
            self._receive(index, decoded)
        if missing:
            self._unseen |= {self._tasks[index].path.parent for index in missing}
            # They are no more than a share is.
            self._waiting.append(missing)

    def _give_up(self) -> None:
        late = [index for asked in (*self._waiting, *self._running.values()) for index in asked]
        for one in self._running:
            ray.cancel(one, force=True)
        self._waiting.clear()
        self._running.clear()
        for index in late:
            self._receive(index, Decoded(UNREAD, [], [RawNote("", LATE)]))


def _failed(error: Exception) -> Decoded:
    what = f"refused: the cluster cannot decode it: {type(error).__name__}: {last_words(error)}"
    return Decoded("unreadable", [], [RawNote("", shown(what))])
