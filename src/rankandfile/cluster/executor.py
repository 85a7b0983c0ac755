"""Work of any kind as tasks of Ray, for whoever hands it to an executor: the scoring of the lab's incidents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

import ray

from .connection import connected

#: Longest that the cluster may take to be there.
_SECONDS = 120.0


class RayTasks(Executor):
    """Ray keeps them waiting until a processor is free, and runs a task again whose worker died."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = ray.remote(_called).remote(work, *args, **kwargs).future()
        return future


def _called(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return work(*args, **kwargs)


@contextmanager
def tasks_of_ray(address: str, jobs: int | None) -> Iterator[Executor]:
    with connected(address, jobs, _SECONDS):
        yield RayTasks()
