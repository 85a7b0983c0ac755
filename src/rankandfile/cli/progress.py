"""A word on what takes long, on the terminal only, and gone when it is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .console import err


@contextmanager
def working(what: str) -> Iterator[None]:
    with Progress(
        SpinnerColumn("line"),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    ) as progress:
        progress.add_task(what, total=None)
        yield
