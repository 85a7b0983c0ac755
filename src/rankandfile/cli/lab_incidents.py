"""Folders of incidents, as the commands that go over many of them take them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from .console import err
from .errors import UserError

Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Incidents at a time.")]


def incidents_in(sets: list[Path]) -> list[Path]:
    """Raises `UserError` where there is none."""
    from rankandfile.lab.score.corpus import incidents

    found = incidents(sets)
    if not found:
        raise UserError(f"no incident in {', '.join(map(str, sets))}: make some with raf lab export")
    return found


@contextmanager
def progressing(label: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar, where there is a terminal; to be called after each of them."""
    with Progress(console=err, disable=not err.is_terminal) as progress:
        bar = progress.add_task(label, total=total)
        yield lambda: progress.advance(bar)
