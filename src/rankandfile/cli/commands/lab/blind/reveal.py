"""``raf lab blind reveal``: what was true, beside what was said."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from typer import Argument

from rankandfile.cli.console import out
from rankandfile.cli.errors import told_as

ORDER = 40
EXAMPLES = ("raf lab blind reveal spring/",)


def reveal(folder: Annotated[Path, Argument(metavar="DIR", help="Of the set that was scored.")]) -> None:
    """Open a set that was scored: truth beside answer, case by case. From then on its cases are ordinary incidents."""
    from rankandfile.lab.blind import reveal as opening
    from rankandfile.lab.blind.case import read_set
    from rankandfile.lab.blind.found import reveal as opening_found

    if read_set(folder).of == "evidence":
        with told_as(f"cannot write into {folder}"):
            for title, lines in opening_found.reveal(folder):
                out.print(title, style="bold", soft_wrap=True)
                out.print("\n".join(f"  {line}" for line in lines), soft_wrap=True)
        return
    with told_as(f"cannot write into {folder}"):
        found = opening.reveal(folder)
    for one in found:
        out.print(f"{one.case}: {one.title}", style="bold", soft_wrap=True)
        for asked, truth, answer in one.lines:
            out.print(f"  {asked:<10} {truth}", soft_wrap=True)
            out.print(f"  {'':<10} said: {answer}", soft_wrap=True)
        for form, words in one.wrong:
            out.print(f"  {'wrong':<10} {form}: {words}", soft_wrap=True)
    out.print(
        f"{'next':<10} raf lab score -a raf-src --worst --set {shlex.quote(str(folder))}", soft_wrap=True
    )
