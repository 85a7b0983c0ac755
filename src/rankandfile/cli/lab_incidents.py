"""Folders of incidents, as the commands that go over many of them take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

from rich.progress import Progress
from typer import Option

from .console import err
from .errors import UserError

T = TypeVar("T")
R = TypeVar("R")

Jobs = Annotated[int, Option("--jobs", min=1, help="Incidents at a time.")]
ScenariosAtATime = Annotated[int, Option("--jobs", min=1, help="Scenarios at a time.")]


def incidents_in(sets: list[Path]) -> list[Path]:
    """Raises `UserError` where there is none."""
    from rankandfile.lab.score.corpus import incidents

    found = incidents(sets)
    if not found:
        raise UserError(f"no incident in {', '.join(map(str, sets))}: make some with raf lab export")
    return found


def as_they_end(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[tuple[T, Future[R]]]:
    """Each item with what `work` made of it, `jobs` at a time.

    After an interrupt nothing new is begun; what runs is ended by its own context managers.
    """
    pool = ThreadPoolExecutor(jobs)
    try:
        running = {pool.submit(work, item): item for item in items}
        for done in as_completed(running):
            yield running[done], done
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def progressing(label: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar, where there is a terminal; to be called after each of them."""
    with Progress(console=err, disable=not err.is_terminal) as progress:
        bar = progress.add_task(label, total=total)
        yield lambda: progress.advance(bar)
