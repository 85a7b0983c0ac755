"""A line on the terminal while something takes more than a moment: gone when it is done, nothing where nobody looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rankandfile.pipeline import OnProgress

from .console import err


@contextmanager
def watching() -> Iterator[OnProgress | None]:
    """To be told what is being done, and how many of how many files are; None if stderr is no terminal."""
    if not err.is_terminal:
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn("line"), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("", total=None)

        def show(what: str, done: int, of: int) -> None:
            progress.update(task, description=f"{what} {done}/{of}" if of else what)

        yield show


@contextmanager
def working(what: str) -> Iterator[None]:
    with watching() as show:
        if show is not None:
            show(what, 0, 0)
        yield
