"""Who decodes files: processes of this machine, or another that does it as they do, elsewhere.

Whoever it is, each file is decoded by `worker.decode` in a process with limits of its own, and the answer is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from rankandfile.evidence.files import native_pass
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task, decode_all
from rankandfile.evidence.flight.native import native

Receive = Callable[[int, Decoded], None]


class Engine(Protocol):
    @property
    def reads_objects(self) -> bool:
        """Whether it reads what a task's `left` names, so that it need not be copied to this machine."""

    def decode(
        self,
        tasks: Sequence[Task],
        receive: Receive,
        patience: Patience,
        wants_lines: Callable[[], bool] = lambda: True,
    ) -> None:
        """Give what each file holds to `receive`, by the number of its task, in no particular order and from this
        thread; keep nothing of it. A file that cannot be decoded is one with a note. Raises `UserError` where the
        engine itself cannot work."""


class Here(NamedTuple):
    """Processes of this machine, and threads where the native reader is installed."""

    jobs: int | None = None
    reads_objects: bool = False

    def decode(
        self,
        tasks: Sequence[Task],
        receive: Receive,
        patience: Patience,
        wants_lines: Callable[[], bool] = lambda: True,
    ) -> None:
        left: Sequence[int] = range(len(tasks))
        if (read := native().read) is not None:
            left = native_pass.read(tasks, receive, read, self.jobs, patience)
        decode_all(
            [tasks[index] for index in left],
            lambda number, decoded: receive(left[number], decoded),
            self.jobs,
            patience=patience,
            wants_lines=wants_lines,
        )


HERE = Here()
