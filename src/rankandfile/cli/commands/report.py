"""``raf report``: the whole diagnosis on one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from rankandfile.cli.console import err
from rankandfile.cli.errors import told_as
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.progress import working
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.model.diagnosis import Diagnosis
    from rankandfile.reason import Facts

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
    output: Annotated[Path, Option("--output", "-o", help="The page to write.")] = Path("report.html"),
) -> None:
    """The verdict with its proof as one HTML file: score, waits, stacks, source, evidence.

    The page needs no network and no server: open it from the disk, or attach it to a ticket.
    """
    result = diagnosed(paths, options)
    write_report(result.facts, result.diagnosis, output)


def write_report(facts: Facts, diagnosis: Diagnosis, output: Path) -> None:
    """Write the page, and say where it is."""
    from rankandfile import __version__
    from rankandfile.reason.pictures import pictures
    from rankandfile.render.report import page

    with working("drawing the report"):
        text = page(diagnosis, pictures(facts, diagnosis), __version__)
    # Names from evidence may hold halves of characters, which UTF-8 has no bytes for.
    data = text.encode("utf-8", "replace")
    with told_as(f"cannot write {output}"):
        output.write_bytes(data)
    err.print(f"report  {output}  ({len(data) / 1e6:.1f} MB)", soft_wrap=True)
