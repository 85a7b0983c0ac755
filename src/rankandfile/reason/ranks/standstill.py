"""Whether the whole job stands still, where no clock tells how long anyone has waited.

A rank that is a few calls behind is what any running job shows at any moment. Stillness shows in what the others
did meanwhile: all of them wait, all waits end in one place, and they have come as far as they can without it, each
in calls behind the missing one or, having waited for each other, in calls of several groups. Everyone waiting in one
and the same call proves nothing: that is what a barrier looks like while the first rank writes a checkpoint.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import WaitEnd

_FEWEST_WAITING = 3


@heuristic(
    "standstill without a clock",
    "a job of which all others came as far as they can stands still",
    otherwise=False,
)
def stands_still(facts: Facts, wait_end: WaitEnd) -> bool:
    """Whether every other rank of the job has come as far as it can get without those that the wait end names."""
    missing = set(wait_end.ranks) or {r for i in wait_end.pending for r in facts.waits.pending[i].behind}
    waiting = {*wait_end.victims} - missing
    everyone = set(range(facts.case.world_size or 0)) or set(facts.case.ranks_seen)
    if len(facts.wait_ends) != 1 or len(missing) != 1 or waiting | missing != everyone:
        return False
    return len(waiting) >= _FEWEST_WAITING and (_ran_ahead(facts, waiting) or _waits_spread(facts, waiting))


def _ran_ahead(facts: Facts, waiting: set[int]) -> bool:
    """Each has issued calls behind the one it waits in, and all came to the same place."""
    unfinished = facts.call_table.calls.filter(pl.col("open") & pl.col("rank").is_in(list(waiting)))
    counts = unfinished.group_by("rank").len()
    if counts.height < len(waiting) or (counts["len"] < 2).any():
        return False
    came = facts.standing.filter(pl.col("rank").is_in(list(waiting)) & (pl.col("last") >= 0))
    spread = came.group_by("group").agg((pl.col("last").max() - pl.col("last").min()).alias("spread"))
    return not (spread["spread"] > 0).any()


def _waits_spread(facts: Facts, waiting: set[int]) -> bool:
    """Each sits in a single call, and the calls are of several groups: they wait for each other in turn."""
    calls = [call for call in facts.waits.pending if waiting & set(call.waiting)]
    each_in_one = all(len(facts.waits.of_rank.get(rank, ())) == 1 for rank in waiting)
    return each_in_one and len({call.group for call in calls}) > 1
