"""``raf report``: the whole diagnosis on one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankandfile.cli.console import err
from rankandfile.cli.errors import UserError
from rankandfile.cli.help import examples
from rankandfile.cli.loading import Attempt, Jobs, Paths, load_case
from rankandfile.cli.progress import working
from rankandfile.cli.sources import Revision, Sources, as_it_ran, located, source_tree

if TYPE_CHECKING:
    from rankandfile.model.diagnosis import Diagnosis
    from rankandfile.reason import Facts

ORDER = 60

EXAMPLES = examples(
    "raf report dumps/",
    "raf report dumps/ --src train/",
    "raf report ticket.zip -o hang-812345.html",
)


def report(
    paths: Paths,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    src: Sources = None,
    git: Revision = None,
    attempt: Attempt = None,
    jobs: Jobs = None,
) -> None:
    """The verdict with its proof as one HTML file: score, waits, stacks, source, evidence.

    The page needs no network and no server: open it from the disk, or attach it to a ticket.
    """
    from rankandfile.evidence.reading import Reading

    tree = source_tree(src, git)
    case = load_case(paths, jobs, Reading(attempt=attempt))
    tree = as_it_ran(tree, case)
    from rankandfile.reason import conclude, gather

    with working("reasoning"):
        facts = gather(case)
        diagnosis = conclude(facts)
    if tree is not None:
        from rankandfile.source.remedies import advise

        with working("reading the source"):
            diagnosis = advise(located(case, diagnosis, tree), tree)
    write_report(facts, diagnosis, output)


def write_report(facts: Facts, diagnosis: Diagnosis, output: Path) -> None:
    """Write the page, and say where it is."""
    from rankandfile import __version__
    from rankandfile.reason.pictures import pictures
    from rankandfile.render.report import page

    with working("drawing the report"):
        text = page(diagnosis, pictures(facts, diagnosis), __version__)
    # Names from evidence may hold halves of characters, which UTF-8 has no bytes for.
    data = text.encode("utf-8", "replace")
    try:
        output.write_bytes(data)
    except OSError as error:
        raise UserError(f"cannot write {output}: {error.strerror or error}") from error
    err.print(f"report  {output}  ({len(data) / 1e6:.1f} MB)", markup=False, soft_wrap=True)
