"""From a verdict to a line: by its cause, where ranks diverged, where one is held, raised, left, or differs."""

from __future__ import annotations

from rankandfile.model.diagnosis import Verdict

from .event_loop.kept_by_gather import kept_by_gather
from .found_line import FoundLine, Search
from .from_logs.took_up import took_up
from .from_logs.upon_exception import upon_exception
from .from_logs.wrote_there import wrote_there
from .making_groups.made_by_some import made_by_some
from .making_groups.set_up import counted_alone
from .of_one_rank import (
    begun_at,
    deadline,
    exited,
    exits_so,
    guarded,
    held,
    raised,
    remaining,
    went_to,
)
from .of_stages.came_anew import came_anew
from .of_stages.left_loop import left_loop
from .of_stages.left_out import left_out_message
from .of_stages.owed_in_circle import owed_in_circle
from .of_stages.pipeline import stages_of
from .of_stages.round_ahead import round_ahead
from .of_stages.unsent import unsent
from .of_two_cohorts.chosen import diverged
from .of_two_cohorts.compared_ranks import divergences

#: Families whose fault is in no line of the program.
_NOT_IN_CODE = {"device", "fabric"}


def find(search: Search, verdict: Verdict) -> FoundLine | None:
    """None where the code supports no answer."""
    culprits = [culprit.rank for culprit in verdict.named]
    if (
        (not verdict.hang and verdict.cause == "no_hang")
        or verdict.ordinary
        or verdict.family in _NOT_IN_CODE
        or verdict.cause == "killed"
    ):
        return None
    if verdict.cause == "too_short_timeout":
        return deadline(search)
    if verdict.cause == "teardown_only" and culprits:
        return remaining(search, culprits[0]) or held(search, culprits[0])
    if verdict.cause == "init_stuck" and len(culprits) == 1 and search.paths.left(culprits[0]):
        return exits_so(search, culprits[0])
    if verdict.family in ("host", "start_and_end") and culprits:
        return held(search, culprits[0])
    if verdict.cause == "init_stuck" and (counted := counted_alone(search, verdict)) is not None:
        return counted
    if verdict.cause == "raised" and culprits:
        return raised(search, verdict, culprits[0])
    if verdict.cause == "exited" and culprits:
        return exited(search, culprits[0])
    if verdict.cause == "group_mismatch":
        found = made_by_some(search, verdict) or guarded(search, verdict)
        if found is not None:
            return found
    anew = came_anew(search, verdict)
    apart = list(divergences(search.paths, verdict)) if anew is None else [anew]
    if verdict.cause == "order_inversion" and (begun := begun_at(search, verdict)) is not None:
        # Items that came in another order say more than that a thread makes the calls.
        ordered = diverged(search, verdict, apart)
        return ordered if ordered is not None and ordered.kind == "order" else begun
    stages = stages_of(search, verdict)
    found = left_out_message(search, verdict, stages) or unsent(search, verdict)
    found = found or owed_in_circle(search, verdict) or round_ahead(search, verdict)
    found = found or upon_exception(search, apart) or diverged(search, verdict, apart)
    if found is None or not _is_of(found, culprits):
        found = took_up(search, verdict) or found
    if verdict.cause == "early_exit" and culprits and (found is None or found.decision is None):
        # Where no test is known that let it leave its loop, the one line that exits so.
        found = (exited(search, culprits[0]) if search.paths.left(culprits[0]) else None) or found
    if found is None or found.kind == "held":
        # That all stand at one line says less than that one of them has come there by another way.
        found = left_loop(search, verdict, stages) or found
    # That an exception is kept is said where it is kept, and not where somebody asks for it later.
    found = found or kept_by_gather(search, verdict)
    if found is None or found.kind in ("held", "place"):
        found = wrote_there(search, verdict) or found
    return found or went_to(search, verdict)


def _is_of(found: FoundLine, culprits: list[int]) -> bool:
    """It tells the way of those who are named."""
    if found.divergence is None:
        return bool({*found.singled} & {*culprits})
    return {*culprits} <= {*found.divergence.normal.members, *found.divergence.culprit.members}
