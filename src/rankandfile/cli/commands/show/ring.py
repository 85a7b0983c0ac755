"""``raf show ring``: what the recorder wrote, record by record, with what is no call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError
from rankandfile.cli.output import Format, FormatOption, LimitOption, OutputOption, emit, format_of_table

if TYPE_CHECKING:
    import polars as pl

    from rankandfile.evidence.ring.journal import Journal

ORDER = 110
EXAMPLES = (
    "raf show ring /dev/shm/raf-1000",
    "raf show ring /dev/shm/raf-1000 --notes",
    "raf show ring raf-case/evidence/rings -f csv -o records.csv",
)

BRIEF = ["rank", "record", "time", "kind", "what", "group", "seq", "reduction", "step", "site"]


def ring(
    paths: Annotated[list[Path], Argument(help="Ring files, or folders that hold them.", metavar="PATH...")],
    notes: Annotated[
        bool,
        Option("--notes", help="Steps, decisions of guards and CUDA graphs only, without the calls."),
    ] = False,
    limit: LimitOption = 50,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """The recorder's rings: calls, steps, decisions and CUDA graphs in their order, and where histories begin to
    differ."""
    format = format_of_table(output, format)
    from rankandfile.evidence.files.links import Links
    from rankandfile.evidence.ring.journal import history_divergences, read

    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or directory")
    links = Links(paths)
    files = [
        file
        for path in paths
        for file in (sorted(filter(links.ordinary, path.rglob("raf-*.ring"))) if path.is_dir() else [path])
    ]
    for note in links.notes():
        err.print(f"note: {note}")
    journals: list[Journal] = []
    wrong: list[str] = []
    for file in files:
        try:
            found = read(file)
        except OSError as error:
            found = f"cannot be read: {error.strerror or error}"
        if isinstance(found, str):
            wrong.append(f"{file}: {found}")
        else:
            journals.append(found)
    if not journals:
        places = ", ".join(map(str, paths))
        raise UserError(wrong[0] if len(wrong) == 1 else f"no ring of the recorder in {places}")
    for one in wrong:
        err.print(f"note: {one}", soft_wrap=True)
    # The newest records are what one looks for.
    emit(_table(journals, notes), format, output, brief=BRIEF, limit=limit, what="records")
    if format is Format.text and output is None:
        for divergence in history_divergences(journals):
            sides = [
                f"rank {rank} {row.text} at {row.site}" for rank, row in (divergence.one, divergence.other)
            ]
            out.print(
                f"group {divergence.group}: the histories differ from seq {divergence.seq} on: {'; '.join(sides)}"
            )


def _table(journals: list[Journal], notes: bool) -> pl.DataFrame:
    import polars as pl

    rows = [
        {
            "rank": journal.rank,
            "record": row.number,
            "time": row.time_ns,
            "kind": row.kind,
            "what": row.text,
            "group": row.group,
            "seq": row.seq,
            "reduction": row.reduction,
            "step": row.step,
            "site": row.site,
            "hash": f"{row.hash:016x}" if row.hash else "",
        }
        for journal in journals
        for row in journal.rows
        if not notes or row.kind not in ("call", "captured")
    ]
    schema = {"rank": pl.Int32, "record": pl.Int64, "time": pl.Int64, "seq": pl.Int64}
    names = [*BRIEF, "hash"]
    frame = pl.DataFrame(rows, schema={name: schema.get(name, pl.String) for name in names})
    return frame.with_columns(pl.col("time").cast(pl.Datetime("ns", "UTC"))).sort(
        "time", "rank", descending=True
    )
