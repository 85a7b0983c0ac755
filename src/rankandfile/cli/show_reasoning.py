"""``raf show waits|cohorts|divergence``: what the verdict was drawn from."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from rankandfile.pipeline import Options, Result

from .console import err, write_utf8
from .filters import GroupOption, groups_called
from .help import examples
from .loading import Paths, diagnosed, diagnosing
from .output import Format, FormatOption, LimitOption, OutputOption, emit

WAITS = examples(
    "raf show waits dumps/",
    "raf show waits dumps/ --format json",
    "raf show waits dumps/ --format dot | dot -Tsvg > waits.svg",
    "raf show waits dumps/ --format mermaid -o waits.mmd",
)
COHORTS = examples("raf show cohorts dumps/", "raf show cohorts dumps/ --group mesh_tp --all")
DIVERGENCE = examples("raf show divergence dumps/", "raf show divergence dumps/ --format json")


class WaitsFormat(str, Enum):
    text = "text"
    json = "json"
    csv = "csv"
    parquet = "parquet"
    dot = "dot"
    mermaid = "mermaid"


@diagnosing
def waits(
    options: Options,
    paths: Paths,
    limit: LimitOption = 100,
    format: Annotated[
        WaitsFormat, typer.Option("--format", "-f", help="How to print it; dot and mermaid draw a graph.")
    ] = WaitsFormat.text,
    output: OutputOption = None,
) -> None:
    """Who waits for whom: one row per call that somebody cannot get past."""
    result = diagnosed(paths, options)
    if format in (WaitsFormat.dot, WaitsFormat.mermaid):
        text = _graph(result, format)
        if output is not None:
            output.write_text(text, encoding="utf-8")
        else:
            write_utf8(text)
        return
    from rankandfile.reason.views import waits_table

    emit(waits_table(result.facts), Format(format.value), output, limit=limit, what="waits")


def _graph(result: Result, format: WaitsFormat) -> str:
    """Ranks that wait alike are one node, so that a big job fits on a page too."""
    from rankandfile.reason.pictures.wait_graph import wait_graph
    from rankandfile.render.dot import dot
    from rankandfile.render.mermaid import mermaid

    graph = wait_graph(result.facts, result.diagnosis)
    return (dot if format is WaitsFormat.dot else mermaid)(graph) + "\n"


@diagnosing
def cohorts(
    options: Options,
    paths: Paths,
    group: GroupOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also groups whose ranks all made the same calls.")
    ] = False,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """Ranks that made the same calls, per group; by default only groups whose ranks did not."""
    facts = diagnosed(paths, options).facts
    from rankandfile.reason.views import cohorts_table, groups_that_parted

    groups = facts.case.groups["group"].to_list() if everything else groups_that_parted(facts)
    if not groups:
        err.print("The ranks of every group made the same calls; --all shows them.", style="dim")
    if group is not None:
        wanted = set(groups_called(facts.case, group).to_list())
        groups = [number for number in groups if number in wanted]
    emit(cohorts_table(facts, groups), format, output, limit=limit, what="cohorts")


@diagnosing
def divergence(
    options: Options,
    paths: Paths,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """The earliest point where ranks that should have done the same stopped doing it: one row per cohort."""
    diagnosis = diagnosed(paths, options).diagnosis
    from rankandfile.reason.views import divergence_table

    emit(divergence_table(diagnosis), format, output, limit=limit, what="rows")
