"""``raf show cohorts``: ranks that did alike, and where others did something else."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from rankandfile.cli.console import err
from rankandfile.cli.filters import GroupOption, groups_called
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import Format, FormatOption, LimitOption, OutputOption, emit, format_of_table
from rankandfile.pipeline import Options

ORDER = 40
EXAMPLES = (
    "raf show cohorts dumps/",
    "raf show cohorts dumps/ --histories --group mesh_tp",
    "raf show cohorts dumps/ --all -o cohorts.csv",
)


@diagnosing
def cohorts(
    options: Options,
    paths: Paths,
    histories: Annotated[
        bool, Option("--histories", help="By all their calls, per group, and not only where they diverged.")
    ] = False,
    group: GroupOption = None,
    everything: Annotated[
        bool, Option("--all", help="With --histories: also groups whose ranks all made the same calls.")
    ] = False,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """Ranks that did alike: one row per cohort, at the earliest point where ranks that should agree no longer did.

    With --histories, --group or --all: ranks that made the same calls all along, group by group.
    """
    format = format_of_table(output, format)
    result = diagnosed(paths, options)
    from rankandfile.reason import views

    if not (histories or group or everything):
        found, brief = views.divergence_table(result.diagnosis), views.DIVERGENCE_IN_BRIEF
        emit(found, format, output, brief=brief, limit=limit, what="cohorts")
        return
    facts = result.facts
    groups = facts.case.groups["group"].to_list() if everything else views.groups_that_diverged(facts)
    if not groups:
        err.print("The ranks of every group made the same calls; --all shows them.", style="dim")
    if group is not None:
        wanted = set(groups_called(facts.case, group).to_list())
        groups = [number for number in groups if number in wanted]
    emit(views.cohorts_table(facts, groups), format, output, limit=limit, what="cohorts")
