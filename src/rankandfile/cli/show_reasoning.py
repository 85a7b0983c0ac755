"""``raf show waits|cohorts|divergence``: what the verdict was drawn from."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from .console import err, write_utf8
from .filters import GroupOption, groups_called
from .help import examples
from .loading import Attempt, Jobs, Paths, load_case
from .output import Format, FormatOption, LimitOption, OutputOption, emit
from .progress import working

if TYPE_CHECKING:
    from rankandfile.reason import Facts

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


def _facts(paths: Paths, attempt: int | None, jobs: int | None) -> Facts:
    from rankandfile.evidence.reading import Reading
    from rankandfile.reason import gather

    case = load_case(paths, jobs, Reading(attempt=attempt))
    with working("reasoning"):
        return gather(case)


def waits(
    paths: Paths,
    limit: LimitOption = 100,
    format: Annotated[
        WaitsFormat, typer.Option("--format", "-f", help="How to print it; dot and mermaid draw a graph.")
    ] = WaitsFormat.text,
    output: OutputOption = None,
    attempt: Attempt = None,
    jobs: Jobs = None,
) -> None:
    """Who waits for whom: one row per call that somebody cannot get past."""
    from rankandfile.reason.views import waits_table

    facts = _facts(paths, attempt, jobs)
    if format in (WaitsFormat.dot, WaitsFormat.mermaid):
        text = _graph(facts, format)
        if output is not None:
            output.write_text(text, encoding="utf-8")
        else:
            write_utf8(text)
        return
    emit(waits_table(facts), Format(format.value), output, limit=limit, what="waits")


def _graph(facts: Facts, format: WaitsFormat) -> str:
    """Ranks that wait alike are one node, so that a big job fits on a page too."""
    from rankandfile.reason import conclude
    from rankandfile.reason.pictures.wait_graph import wait_graph
    from rankandfile.render.dot import dot
    from rankandfile.render.mermaid import mermaid

    graph = wait_graph(facts, conclude(facts))
    return (dot if format is WaitsFormat.dot else mermaid)(graph) + "\n"


def cohorts(
    paths: Paths,
    group: GroupOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also groups whose ranks all made the same calls.")
    ] = False,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: OutputOption = None,
    attempt: Attempt = None,
    jobs: Jobs = None,
) -> None:
    """Ranks that made the same calls, per group; by default only groups whose ranks did not."""
    from rankandfile.reason.views import cohorts_table, groups_that_parted

    facts = _facts(paths, attempt, jobs)
    groups = facts.case.groups["group"].to_list() if everything else groups_that_parted(facts)
    if not groups:
        err.print("The ranks of every group made the same calls; --all shows them.", style="dim")
    if group is not None:
        wanted = set(groups_called(facts.case, group).to_list())
        groups = [number for number in groups if number in wanted]
    emit(cohorts_table(facts, groups), format, output, limit=limit, what="cohorts")


def divergence(
    paths: Paths,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: OutputOption = None,
    attempt: Attempt = None,
    jobs: Jobs = None,
) -> None:
    """The earliest point where ranks that should have done the same stopped doing it: one row per cohort."""
    from rankandfile.reason import conclude
    from rankandfile.reason.views import divergence_table

    emit(divergence_table(conclude(_facts(paths, attempt, jobs))), format, output, limit=limit, what="rows")
