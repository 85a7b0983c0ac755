"""``raf lab answers``: every answer to a set of incidents, to see whether a change changes any."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError
from rankandfile.cli.lab_incidents import Jobs, incidents_in, progressing
from rankandfile.cli.output import folder_output

ORDER = 70

EXAMPLES = (
    "raf lab answers corpus/ -o before/",
    "raf lab answers corpus/ -o after/ --against before/",
    "raf lab answers -o after/ --against before/",
)


def answers(
    output: Annotated[Path, folder_output("Folder of the answers.")],
    sets: Annotated[
        list[Path] | None,
        Argument(
            metavar="[SET]...",
            help="Folders of incidents (raf lab export). Without any, the answers are there already.",
        ),
    ] = None,
    against: Annotated[
        Path | None, Option("--against", help="Compare with the answers in this folder.")
    ] = None,
    most: Annotated[int, Option("--most", min=1, help="Differences to show of each answer.")] = 4,
    jobs: Jobs = 2,
) -> None:
    """Diagnose each incident by its dumps, by its logs, by all evidence, and with the source; keep every document.

    With --against: what differs from the answers of another time. Exit status: 0 nothing differs, 1 something does.
    """
    from rankandfile.lab.score.answers import compared, write_answers

    if against is not None and not against.is_dir():
        raise UserError(f"{against}: no such folder")
    if sets:
        found = incidents_in(sets)
        with progressing("answers", len(found)) as step:
            count = write_answers(found, output, jobs=jobs, on_done=step)
        out.print(f"{count:,} answers to {len(found):,} incidents in {output}", soft_wrap=True)
    if against is None:
        return
    if not output.is_dir():
        raise UserError(f"{output}: no such folder; name a SET to make its answers")
    count, differing = compared(against, output)
    for name, lines in differing.items():
        out.print(f"{name}:", soft_wrap=True)
        for line in lines[:most]:
            out.print(f"  {line}", soft_wrap=True)
        if len(lines) > most:
            out.print(f"  and {len(lines) - most} more")
    out.print(f"{len(differing):,} of {count:,} answers differ")
    raise Exit(1 if differing else 0)
