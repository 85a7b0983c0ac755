"""``raf lab blind score``: the first answers to a set that nobody here has seen."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from rich import box
from rich.table import Table
from typer import Argument, Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.lab_incidents import progressing, say

ORDER = 30
EXAMPLES = ("raf lab blind score spring/", "raf lab blind score spring/ --page results.md")


def score(
    folder: Annotated[Path, Argument(metavar="DIR", help="Of the sealed set.")],
    page: Annotated[Path, Option("--page", help="Where the row goes; it is only ever appended to.")] = Path(
        "docs/first-contact.md"
    ),
    again: Annotated[
        bool,
        Option("--again", help="Also where it was scored before: the row says that it is no first contact."),
    ] = False,
    run_patches: Annotated[
        bool, Option("--run-patches/--no-run-patches", help="Run each program with the patch offered for it.")
    ] = True,
) -> None:
    """Answer each case once from each form of evidence, mark the answers, and add a row to the page."""
    from rankandfile.lab.blind import case, sealed
    from rankandfile.lab.blind import page as pages
    from rankandfile.lab.blind.scoring import times_scored

    if not page.parent.is_dir():
        raise UserError(f"there is no folder {page.parent} for the row: name a page with --page")
    stated, checksum = case.read_set(folder), sealed.read(folder).checksum
    if pages.told_otherwise(page, stated.name, checksum):
        raise UserError(f"{page} has a set {stated.name} that was sealed otherwise: this is not that set")
    told = pages.times_told(page, checksum)
    if (told or times_scored(folder)) and not again:
        raise UserError(f"{folder} was scored before: --again scores it, and it is no first contact")
    with told_as(f"cannot score {folder}"):
        if stated.of == "evidence":
            why = _found(folder, page, told)
        else:
            why = _programs(folder, page, told, run_patches)
    if why:
        say(f"no first contact: {why}")
    out.print(f"{'page':<10} {page}", soft_wrap=True)
    out.print(f"{'next':<10} raf lab blind reveal {shlex.quote(str(folder))}", soft_wrap=True)
    out.print(f"{'sha256':<10} {checksum}", soft_wrap=True)


def _programs(folder: Path, page: Path, told: int, run_patches: bool) -> str:
    """Score, tell and print; returns why it is no first contact."""
    from rankandfile.lab.blind import case, scoring
    from rankandfile.lab.blind import page as pages

    with progressing("cases", len(case.cases(folder))) as step:
        done = scoring.score(folder, before=told, run_patches=run_patches, on_done=step)
    pages.append(page, pages.block(done))
    for name, rows in (("evidence", pages.by_form(done.marks)), ("kind", pages.by_kind(done.marks))):
        table = Table(name, "cases", *pages.questions(), "s", box=box.SIMPLE_HEAD)
        for of, marks in rows:
            values = [str(value) for _, value in pages.shares(marks)]
            table.add_row(of, str(len(marks)), *values, pages.seconds(marks))
        out.print(table)
    return done.not_first_because


def _found(folder: Path, page: Path, told: int) -> str:
    """The same of a set without programs, and so without patches."""
    from rankandfile.lab.blind import page as pages
    from rankandfile.lab.blind.found import case, scoring
    from rankandfile.lab.blind.found.page import block, wrong

    with progressing("folders", len(case.cases(folder))) as step:
        done = scoring.score(folder, before=told, on_done=step)
    pages.append(page, block(done))
    table = Table("folder", "form", "mark", "what is not right", box=box.SIMPLE_HEAD)
    for one in done.marks:
        table.add_row(one.case, one.form, one.mark, wrong(one))
    out.print(table)
    return done.not_first_because
