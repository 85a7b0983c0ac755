"""``raf show waits``: who waits for whom, as a table or as a graph."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Option

from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import TABBED, Format, LimitOption, OutputOption, emit, told_by_suffix, write_text
from rankandfile.pipeline import Options, Result

ORDER = 50
EXAMPLES = (
    "raf show waits dumps/",
    "raf show waits dumps/ --format json",
    "raf show waits dumps/ --format dot | dot -Tsvg > waits.svg",
    "raf show waits dumps/ --format mermaid -o waits.mmd",
)


class WaitsFormat(str, Enum):
    text = "text"
    json = "json"
    csv = "csv"
    parquet = "parquet"
    dot = "dot"
    mermaid = "mermaid"


_GRAPHS = {".gv": WaitsFormat.dot, ".mmd": WaitsFormat.mermaid}


@diagnosing
def waits(
    options: Options,
    paths: Paths,
    limit: LimitOption = 100,
    format: Annotated[
        WaitsFormat, Option("--format", "-f", help="How to print it; dot and mermaid draw a graph.")
    ] = WaitsFormat.text,
    output: OutputOption = None,
) -> None:
    """Who waits for whom: one row per call that somebody cannot get past."""
    if output is not None and format is WaitsFormat.text:
        format = _of_file(output)
    result = diagnosed(paths, options)
    if format in (WaitsFormat.dot, WaitsFormat.mermaid):
        write_text(_graph(result, format), output)
        return
    from rankandfile.reason.views import waits_table

    emit(waits_table(result.facts), Format(format.value), output, limit=limit, what="waits")


def _of_file(output: Path) -> WaitsFormat:
    found = _GRAPHS.get(output.suffix.lower())
    return found or WaitsFormat(told_by_suffix(output, WaitsFormat, TABBED))


def _graph(result: Result, format: WaitsFormat) -> str:
    """Ranks that wait alike are one node, so that a big job fits on a page too."""
    from rankandfile.reason.pictures.wait_graph import wait_graph
    from rankandfile.render.wait_graphs import dot, mermaid

    graph = wait_graph(result.facts, result.diagnosis)
    return (dot if format is WaitsFormat.dot else mermaid)(graph) + "\n"
