"""``raf report``: the whole diagnosis on one page for a browser, beside the card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rankandfile.cli.loading import Paths, diagnosing
from rankandfile.cli.output import page_output
from rankandfile.cli.panels import SHARE
from rankandfile.pipeline import Options

from .diagnose import answer

PANEL = SHARE
ORDER = 60
EXAMPLES = (
    "raf report dumps/",
    "raf report dumps/ --src train/",
    "raf report ticket.zip -o hang-812345.html",
)


@diagnosing
def report(
    options: Options,
    paths: Paths,
    output: Annotated[
        Path,
        page_output("The page to write."),
    ] = Path("report.html"),
) -> None:
    """The verdict with its proof as one HTML page: the same as raf diagnose --report.

    The page needs no network and no server: open it from the disk, or attach it to a ticket.
    Exit status: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3 undetermined.
    """
    answer(paths, options, report=output)
