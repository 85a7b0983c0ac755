"""Incidents for the commands of the lab: one is made, many are gone over."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

from rich.progress import Progress
from typer import Option

from .console import err
from .errors import UserError

Say = Callable[[str], None]
OnLine = Callable[[int, str], None]

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


def say(message: str) -> None:
    err.print(message, style="dim", soft_wrap=True)


@contextmanager
def told_line_by_line() -> Iterator[None]:
    """Of an error of several lines the first is the message; the others, a run's last words, stand before it."""
    from rankandfile.lab.run import ScenarioError
    from rankandfile.lab.sim.run import SimulationError

    try:
        yield
    except (UserError, ScenarioError, SimulationError) as error:
        first, *more = str(error).splitlines() or [""]
        for line in more:
            say(line)
        raise UserError(first) from error


def kind_of(name: str) -> str:
    """ "real" or "simulated". Raises `UserError` with the nearest names for a name that is neither."""
    from rankandfile.lab import catalog
    from rankandfile.lab.sim import catalog as simulated

    real = [one.name for one in catalog.scenarios()]
    # `two_faults` runs, `two-faults` is simulated: another spelling counts only where nothing has this very name.
    if name not in real and name in simulated.scenarios():
        return "simulated"
    if name.replace("-", "_") in real:
        return "real"
    names = [*real, *simulated.scenarios()]
    near = [one for one in names if one.startswith(name)] or difflib.get_close_matches(name, names)
    raise UserError(
        f"no scenario '{name}': " + (f"perhaps {', '.join(near[:3])}?" if near else "see raf lab list")
    )


def lacking(name: str) -> str:
    """Why this machine cannot make the scenario; empty if it can."""
    from rankandfile.lab import catalog, run

    return run.lacking(catalog.get(name)) if kind_of(name) == "real" else ""


def make(
    name: str,
    into: Path,
    *,
    twin: bool,
    ranks: int | None = None,
    at: Path | None = None,
    on_progress: Say = say,
    on_line: OnLine | None = None,
) -> Path:
    """Make the incident of a real or simulated scenario. Raises `UserError` for what the caller can mend."""
    from rankandfile.lab.run import run_scenario
    from rankandfile.lab.sim.run import simulate

    real = kind_of(name) == "real"
    if real and ranks is not None:
        raise UserError(f"{name} runs real processes: its number of ranks is part of it")
    if not real and at is not None:
        raise UserError(f"{name} is simulated: its source tree never runs, --at has no meaning")
    try:
        with told_line_by_line():
            _make_room(into)
            if real:
                return run_scenario(name, into, twin=twin, place=at, on_progress=on_progress, on_line=on_line)
            return simulate(f"{name}.twin" if twin else name, into, ranks=ranks)
    except ValueError as error:  # a number of ranks that the layout cannot have
        if real:
            raise
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot write {into}: {error.strerror}") from error


def _make_room(into: Path) -> None:
    """The folder is replaced if it holds an incident; what else lies there is somebody's."""
    from rankandfile.lab import truth

    if into.is_dir() and any(into.iterdir()) and not (into / truth.FILE).is_file():
        raise UserError(f"{into} holds something else than an incident: name another folder")
    into.parent.mkdir(parents=True, exist_ok=True)
