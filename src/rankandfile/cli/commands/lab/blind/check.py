"""``raf lab blind check``: run cases as for sealing, and seal nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument

from rankandfile.cli.console import out
from rankandfile.cli.errors import told_as
from rankandfile.cli.lab_incidents import say, told_line_by_line

ORDER = 15
EXAMPLES = ("raf lab blind check spring/", "raf lab blind check spring/ case-03")


def check(
    folder: Annotated[Path, Argument(metavar="DIR", help="Of the set.")],
    cases: Annotated[list[str] | None, Argument(metavar="CASE", help="Of these alone.")] = None,
) -> None:
    """Run cases as for sealing, say what sealing would refuse, and seal nothing.

    What a run left is in the case's folder, as evidence; the truths stay where they are.
    """
    from rankandfile.lab.blind import sealing

    with told_line_by_line(), told_as(f"cannot check {folder}"):
        sealing.check(folder, cases or (), say)
    out.print("nothing that sealing would refuse")
