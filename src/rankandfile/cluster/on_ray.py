"""The engine of `--engine ray`: shares of the files are tasks of Ray, which gives them to the machines of its cluster,
and again where a worker died."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rankandfile.evidence.files.engine import Here, Receive
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task

#: A larger file is not sent to another machine: it is decoded where it is.
MOST_SENT = 64 << 20


class OnRay(NamedTuple):
    address: str
    """`ray://HOST:PORT`, or `ray`: the cluster of RAY_ADDRESS, or one that is started on this machine."""
    jobs: int | None = None
    """Tasks at a time. None: two for each processor of the cluster, so that none waits."""
    reads_objects: bool = True

    def decode(
        self,
        tasks: Sequence[Task],
        receive: Receive,
        patience: Patience,
        wants_lines: Callable[[], bool] = lambda: True,
    ) -> None:
        if not tasks:
            return
        from .connection import connected
        from .spreading import Spreading

        with connected(self.address, self.jobs, patience.left()) as processors:
            spreading = Spreading(tasks, receive, patience, wants_lines)
            spreading.run(processors, self.jobs or 2 * processors)
        # What is too large to travel.
        here = spreading.here
        Here(self.jobs).decode(
            [tasks[index] for index in here],
            lambda number, decoded: receive(here[number], decoded),
            patience,
            wants_lines,
        )
