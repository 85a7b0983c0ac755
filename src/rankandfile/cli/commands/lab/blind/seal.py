"""``raf lab blind seal``: run every program, keep the evidence, seal the truths."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from typer import Argument

from rankandfile.cli.console import out
from rankandfile.cli.errors import told_as
from rankandfile.cli.lab_incidents import say, told_line_by_line

ORDER = 20
EXAMPLES = ("raf lab blind seal spring/",)


def seal(folder: Annotated[Path, Argument(metavar="DIR", help="Of the set.")]) -> None:
    """Check every case, run its program once for real, confirm its truth from the log of calls, and seal the truths.

    The truths are then in one file, and no longer with their cases: `raf lab blind check` tries cases before. What is
    printed last is the checksum of programs, evidence and truths: keep it where others can see it.
    """
    from rankandfile.lab.blind import sealing

    with told_line_by_line(), told_as(f"cannot seal {folder}"):
        checksum = sealing.seal(folder, say)
    out.print(f"{'next':<10} raf lab blind score {shlex.quote(str(folder))}", soft_wrap=True)
    out.print(f"{'sha256':<10} {checksum}", soft_wrap=True)
