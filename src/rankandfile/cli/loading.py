"""Loading what a command was given, with progress where it takes more than a moment."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .console import err
from .errors import UserError
from .progress import working

if TYPE_CHECKING:
    from rankandfile.evidence.reading import Reading
    from rankandfile.model.case import Case
    from rankandfile.reason import Facts

Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Dumps, folders or archives of them, in any mix, or a case directory.",
        metavar="PATH...",
        show_default=False,
    ),
]
Attempt = Annotated[
    int | None,
    typer.Option(
        "--attempt",
        min=1,
        help="Which attempt of the job, 1 being the earliest. Default: the latest that has most of its ranks.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Decoding processes. Default: one per processor.", show_default=False),
]

Hung = Annotated[
    bool,
    typer.Option("--hung", help="The job did hang: for dumps whose files have lost the time of writing."),
]


def load_case(paths: Sequence[Path], jobs: int | None = None, reading: Reading | None = None) -> Case:
    """The case in `paths`. What could not be read is in its notes; nothing readable at all is the user's error."""
    from rankandfile.evidence.load import load
    from rankandfile.evidence.reading import NotACase

    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or directory")
    with (
        tempfile.TemporaryDirectory(prefix="raf-") as spool,
        Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=err,
            transient=True,
            disable=not err.is_terminal,
        ) as progress,
    ):
        task = progress.add_task("reading", total=None)

        def on_progress(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        try:
            case = load(paths, Path(spool), jobs=jobs, reading=reading, on_progress=on_progress)
        except NotACase as error:
            raise UserError(str(error)) from error
    if (
        case.dumps.is_empty()
        and case.snapshots.is_empty()
        and case.events.is_empty()
        and case.exits.is_empty()
        and not _is_a_jobs_log(case)
    ):
        raise UserError(_nothing_found(paths, [str(note) for note in case.notes]))
    return case


def load_facts(paths: Sequence[Path], attempt: int | None, jobs: int | None) -> Facts:
    """The case in these paths, and what follows from it."""
    from rankandfile.evidence.reading import Reading
    from rankandfile.reason import gather

    case = load_case(paths, jobs, Reading(attempt=attempt))
    with working("reasoning"):
        return gather(case)


def _is_a_jobs_log(case: Case) -> bool:
    """A log in which nobody complains is a job's all the same, if its name or its lines say whose it is."""
    logs = case.logs
    return any(rank is not None for rank in logs["rank"]) or any(len(found) for found in logs["prefixes"])


def _nothing_found(paths: Sequence[Path], notes: list[str]) -> str:
    where = ", ".join(str(path) for path in paths[:3]) + (" ..." if len(paths) > 3 else "")
    why = f" ({notes[0]}{f'; {len(notes) - 1} more notes' if len(notes) > 1 else ''})" if notes else ""
    return f"nothing that tells of a job could be read from {where}{why}"
