"""``raf case convert``: dumps in any form to a case directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.loading import Paths, load_case, loading
from rankandfile.cli.output import folder_output
from rankandfile.pipeline import Options

ORDER = 30
EXAMPLES = (
    "raf case convert dumps/ -o case/",
    "raf case convert ticket.zip -o case/ && raf show groups case/",
    "duckdb -c \"select op, count(*) from 'case/calls.parquet' group by op\"",
)


@loading
def convert(
    options: Options,
    paths: Paths,
    output: Annotated[
        Path,
        folder_output("Directory to write the case to."),
    ],
    force: Annotated[bool, Option("--force", help="Write into a directory that holds something.")] = False,
) -> None:
    """Write a case directory: Parquet tables and notes, readable by every command, DuckDB and pandas."""
    from rankandfile.evidence.tables.case_dir import write

    if output.exists() and not output.is_dir():
        raise UserError(f"{output}: not a directory")
    if output.is_dir() and any(output.iterdir()) and not force:
        raise UserError(f"{output}: not empty; use --force to write into it")
    case = load_case(paths, options)
    with told_as(f"{output}: cannot be written"):
        write(case, output)
    out.print(
        f"{output}: {case.calls.height:,} calls of {len(case.ranks_seen)} ranks in {case.groups.height} groups"
    )
    for note in case.notes:
        err.print(f"note: {note}")
