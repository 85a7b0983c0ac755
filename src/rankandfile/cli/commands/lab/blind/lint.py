"""``raf lab blind lint``: what the linter says of the programs of a sealed set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError, told_as

ORDER = 35
EXAMPLES = ("raf lab blind lint spring/",)


def lint(
    folder: Annotated[Path, Argument(metavar="DIR", help="Of the sealed set.")],
    page: Annotated[Path, Option("--page", help="Where the block goes; it is only ever appended to.")] = Path(
        "docs/first-contact.md"
    ),
) -> None:
    """Lint the sources of each case, mark what is said, and add a block to the page. Nothing is run.

    Scoring a set lints it too: this is for one that was scored before.
    """
    from rankandfile.lab.blind import page as pages
    from rankandfile.lab.blind.case import read_set
    from rankandfile.lab.blind.linted import block, linted

    if not page.parent.is_dir():
        raise UserError(f"there is no folder {page.parent} for the block: name a page with --page")
    if read_set(folder).of == "evidence":
        raise UserError(f"{folder} has no programs")
    with told_as(f"cannot lint {folder}"):
        said = block(linted(folder))
        pages.append(page, said)
    out.print(said, soft_wrap=True, markup=False)
    out.print(f"{'page':<10} {page}", soft_wrap=True)
