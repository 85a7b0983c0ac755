"""``raf show waits|cohorts|divergence``: what the verdict was drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .filters import GroupOption, groups_called
from .help import examples
from .loading import Attempt, Jobs, Paths, load_case
from .output import Format, FormatOption, LimitOption, OutputOption, emit

if TYPE_CHECKING:
    from rankandfile.reason import Facts

WAITS = examples("raf show waits dumps/", "raf show waits dumps/ --format json")
COHORTS = examples("raf show cohorts dumps/", "raf show cohorts dumps/ --group mesh_tp --all")
DIVERGENCE = examples("raf show divergence dumps/", "raf show divergence dumps/ --format json")


def _facts(paths: Paths, attempt: int | None, jobs: int | None) -> Facts:
    from rankandfile.evidence.reading import Reading
    from rankandfile.reason import gather

    return gather(load_case(paths, jobs, Reading(attempt=attempt)))


def waits(
    paths: Paths,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: OutputOption = None,
    attempt: Attempt = None,
    jobs: Jobs = None,
) -> None:
    """Who waits for whom: one row per call that somebody cannot get past."""
    from rankandfile.reason.views import waits_table

    emit(waits_table(_facts(paths, attempt, jobs)), format, output, limit=limit, what="waits")


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
