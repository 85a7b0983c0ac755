"""A line on the terminal while something takes more than a moment: gone when it is done, nothing where nobody looks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rankandfile.pipeline import OnProgress

from .console import err

#: Sooner, or after a smaller share, the pace so far tells nothing.
_AFTER_S, _SHARE = 5, 0.1


def left_words(took_s: float, done: int, of: int) -> str:
    """What of a step is left to do if it goes on at its pace; nothing where that cannot be told.

    >>> left_words(30, 100, 400)
    'about 90 s of it left'
    """
    if took_s < _AFTER_S or done < _SHARE * of or done >= of:
        return ""
    left_s = took_s * (of - done) / done
    return f"about {f'{left_s:.0f} s' if left_s < 100 else f'{left_s / 60:.0f} min'} of it left"


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
        began: dict[str, float] = {}

        def show(what: str, done: int, of: int) -> None:
            took_s = time.monotonic() - began.setdefault(what, time.monotonic())
            left = left_words(took_s, done, of)
            counted = f"{what} {done:,}/{of:,}" if of else what
            progress.update(task, description=f"{counted}, {left}" if left else counted)

        yield show


@contextmanager
def working(what: str) -> Iterator[None]:
    with watching() as show:
        if show is not None:
            show(what, 0, 0)
        yield
