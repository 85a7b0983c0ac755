"""``raf show timeline``: calls over time, as a table of cohorts, or as a trace for Perfetto and Chrome."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

from typer import Option

from rankandfile.cli.console import err
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.filters import RankOption, ranks_called
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import Format, FormatOption, LimitOption, emit, file_output, of_suffix
from rankandfile.cli.progress import working
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.render.timeline import Timeline

ORDER = 90
EXAMPLES = (
    "raf show timeline dumps/",
    "raf show timeline dumps/ -o job.pftrace",
    "raf show timeline dumps/ -o job.json.gz --all",
    "raf show timeline dumps/ --rank 0-3 --around 1000 -o job.pftrace",
)

#: Of each rank, in the table: enough for a screen.
_AROUND_IN_TEXT = 8
_TRACES = ".pftrace or .perfetto-trace for Perfetto, .json for Chrome, each also with .gz"
_TABLE_OF = {
    ".csv": Format.csv,
    ".parquet": Format.parquet,
    **dict.fromkeys((".tsv", ".tab", ".txt"), Format.text),
}
_TABLES = ".csv, .parquet, .tsv or .txt for the table"


@diagnosing
def timeline(
    options: Options,
    paths: Paths,
    rank: RankOption = None,
    around: Annotated[
        int | None,
        Option(
            "--around",
            min=1,
            help="Calls of each rank on either side of the divergence, and at its end. Default: 8, in a trace 300.",
        ),
    ] = None,
    everything: Annotated[bool, Option("--all", help="All calls of all ranks.")] = False,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: Annotated[
        Path | None,
        file_output(
            f"Write it to this file. Its suffix tells the format: {_TRACES}; {_TABLES}.", stream=True
        ),
    ] = None,
) -> None:
    """What happened when: calls around the divergence, ranks that did the same in one row, or a trace to zoom into.

    Open a trace in https://ui.perfetto.dev or chrome://tracing. It has the ranks as tracks, arrows along each
    collective, and the divergence as a mark. Of a job of more than 64 ranks it has the culprits and some ranks of each
    cohort, unless --rank or --all says more. Clocks of different hosts are taken as they are.
    """
    table = _format_of_table(output, format)
    result = diagnosed(paths, options)
    case, facts = result.case, result.facts
    from rankandfile.render.timeline import AROUND, cohort_table
    from rankandfile.render.timeline import timeline as make

    chosen = ranks_called(case, rank) if rank is not None else None
    if everything and chosen is None:
        chosen = case.calls["rank"].unique().to_list()
    usual = AROUND if table is None else _AROUND_IN_TEXT
    found = make(
        case,
        result.diagnosis,
        facts.call_table.calls.select("dump", "record", "slot"),
        ranks=chosen,
        around=None if everything else around or usual,
    )
    if table is not None or output is None:
        emit(cohort_table(found), table or format, output, limit=limit, what="rows")
        return
    if not found.slices.height:
        raise UserError("no call was recorded: there is nothing to draw")
    with working("writing the trace"):
        _write(found, output)
    shown = found.slices["rank"].n_unique()
    err.print(f"{output}: {found.slices.height:,} calls of {shown:,} ranks", style="dim")
    if found.left_out:
        err.print(f"{found.left_out:,} ranks not drawn: choose with --rank, or use --all", style="dim")


def _format_of_table(output: Path | None, asked: Format) -> Format | None:
    """None: a trace. Before anything is read: raises `UserError` for a suffix that names neither."""
    if asked is not Format.text or output is None:
        return asked
    if _kind(output):
        return None
    # A Chrome trace is JSON, and was so first: the table as JSON is asked for.
    return of_suffix(output, _TABLE_OF, f"{_TRACES}; {_TABLES}")


def _kind(path: Path) -> str:
    """Of a trace; empty where the name is none of one."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".pftrace", ".perfetto-trace")):
        return "perfetto"
    return "chrome" if name.endswith(".json") else ""


def _write(found: Timeline, path: Path) -> None:
    packed = path.name.lower().endswith(".gz")
    with (
        told_as(f"-o {path}"),
        cast(BinaryIO, gzip.open(path, "wb", 6) if packed else path.open("wb")) as file,
    ):
        for piece in _pieces(found, _kind(path)):
            file.write(piece)


def _pieces(found: Timeline, kind: str) -> Iterator[bytes]:
    if kind == "perfetto":
        from rankandfile.render.perfetto import perfetto

        yield from perfetto(found)
        return
    from rankandfile.render.chrome_trace import chrome_trace

    for piece in chrome_trace(found):
        yield piece.encode("utf-8", "replace")
