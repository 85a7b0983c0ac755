"""The Python API: `rankandfile.load` and `rankandfile.diagnose`, the same way as the commands go.

`import rankandfile` loads none of it: that happens when one of its names is first used.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import msgspec

from rankandfile import pipeline
from rankandfile.cluster.chosen import chosen
from rankandfile.model import diagnosis as document
from rankandfile.model.case import Case
from rankandfile.model.diagnosis import to_json
from rankandfile.model.errors import UserError
from rankandfile.pipeline import Options

__all__ = ["Case", "Diagnosis", "UserError", "diagnose", "load"]

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


class Diagnosis(document.Diagnosis):
    """The diagnosis that `raf diagnose` prints: its fields are those of the JSON document."""

    @property
    def culprits(self) -> tuple[int, ...]:
        """Ranks that a verdict names, where that is certain or likely."""
        return tuple(sorted({one.rank for verdict in self.verdicts for one in verdict.culprits}))

    @property
    def suspects(self) -> tuple[int, ...]:
        """Ranks that would be the culprits if the best story is right, where it is not proved."""
        return tuple(sorted({one.rank for verdict in self.verdicts for one in verdict.suspects}))

    def to_json(self) -> bytes:
        """The document, as `raf diagnose --format json` prints it."""
        return to_json(self)

    def __str__(self) -> str:
        """The card, as `raf diagnose` prints it where nobody looks at a terminal."""
        from rich.console import Console

        from rankandfile.render.card import WIDTH, card

        console = Console(file=io.StringIO(), width=WIDTH, color_system=None, highlight=False)
        with console.capture() as shown:
            console.print(card(self))
        return "\n".join(line.rstrip() for line in shown.get().splitlines())

    def __repr__(self) -> str:
        causes = ", ".join(verdict.cause for verdict in self.verdicts) or "no verdict"
        return f"<Diagnosis: {causes}; culprits {list(self.culprits)}, suspects {list(self.suspects)}>"

    def _repr_html_(self) -> str:
        """The verdict part of the page of `raf report`, for a notebook."""
        from rankandfile.render.report.notebook import notebook

        return notebook(self)


def load(
    paths: Paths, *, attempt: int | None = None, jobs: int | None = None, engine: str | None = None
) -> Case:
    """The case in dumps, logs, stacks, folders and archives of them, in any mix.

    `attempt` is which attempt of the job to look at, 1 being the earliest; by default it is the latest that has most
    of its ranks. `jobs` is how many processes decode; with `engine="ray"` or `"ray://HOST:PORT"`, tasks of Ray do. What
    could not be read is in `case.notes`. Raises `UserError` where nothing tells of a job.
    """
    _counted(attempt=attempt, jobs=jobs)
    return pipeline.load(_paths(paths), Options(attempt=attempt, jobs=jobs, engine=chosen(engine, jobs)))


def diagnose(
    paths: Paths | Case,
    *,
    src: Paths = (),
    git: str | None = None,
    hung: bool = False,
    attempt: int | None = None,
    jobs: int | None = None,
    engine: str | None = None,
    collectives: Iterable[str] = (),
) -> Diagnosis:
    """Which rank, which call, why, of what is in `paths`, or of a case that `load` gave.

    `src` is the job's source: folders, zip files or wheels; with `git`, as they were in that commit. `hung` says that
    the job did hang, where the files have lost the time of their writing. `attempt`, `jobs` and `engine` are as
    in `load`. `collectives` are the dotted names of functions without source that issue a collective.
    Raises `UserError` for what cannot be read; its text, one line, says what.
    """
    _counted(attempt=attempt, jobs=jobs)
    options = Options(
        sources=_paths(src),
        revision=git,
        hung=hung,
        attempt=attempt,
        jobs=jobs,
        engine=chosen(engine, jobs),
        collectives=tuple(collectives),
    )
    if not isinstance(paths, Case):
        found = pipeline.run(_paths(paths), options).diagnosis
    elif attempt is not None:
        raise UserError("which attempt is chosen when a case is loaded: load(paths, attempt=…)")
    else:
        found = pipeline.diagnose(paths, options).diagnosis
    return Diagnosis(**{name: getattr(found, name) for name in msgspec.structs.asdict(found)})


def _counted(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise UserError(f"{name}={number}: they are counted from 1")


def _paths(given: Paths) -> tuple[Path, ...]:
    return (Path(given),) if isinstance(given, str | PathLike) else tuple(map(Path, given))
