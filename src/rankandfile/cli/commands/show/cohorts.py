"""``raf show cohorts``: which ranks made the same calls."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from rankandfile.cli.console import err
from rankandfile.cli.filters import GroupOption, groups_called
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import Format, FormatOption, LimitOption, OutputOption, emit
from rankandfile.pipeline import Options

ORDER = 40
EXAMPLES = ("raf show cohorts dumps/", "raf show cohorts dumps/ --group mesh_tp --all")


@diagnosing
def cohorts(
    options: Options,
    paths: Paths,
    group: GroupOption = None,
    everything: Annotated[
        bool, Option("--all", help="Also groups whose ranks all made the same calls.")
    ] = False,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """Ranks that made the same calls, per group; by default only groups whose ranks did not."""
    facts = diagnosed(paths, options).facts
    from rankandfile.reason.views import cohorts_table, groups_that_diverged

    groups = facts.case.groups["group"].to_list() if everything else groups_that_diverged(facts)
    if not groups:
        err.print("The ranks of every group made the same calls; --all shows them.", style="dim")
    if group is not None:
        wanted = set(groups_called(facts.case, group).to_list())
        groups = [number for number in groups if number in wanted]
    emit(cohorts_table(facts, groups), format, output, limit=limit, what="cohorts")
