"""Calls in which the members asked for different things, round after round, and which all of them got past.

What came of them may be wrong, and is told so. That somebody waits later has another reason.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.waits.facts import WaitFacts

from .track_difference import TrackDifference

_SO_OFTEN = 2


@heuristic(
    "did no harm",
    "what the members asked differently in one round after the other, and all got past, is no reason of a wait",
    otherwise=False,
)
def did_no_harm(facts: WaitFacts, group: int, difference: TrackDifference) -> bool:
    return difference.kind == "argument" and all_got_past(facts, group, difference.slot)


def all_got_past(facts: WaitFacts, group: int, slot: int) -> bool:
    """Whether the members asked for different things in this call and in others from the same lines, and none of them
    is unfinished."""
    unlike = facts.mismatched.filter(pl.col("group") == group)["slot"]
    calls = facts.call_table.of_group(group).filter(pl.col("slot").is_in(unlike.implode()))
    here = calls.filter(pl.col("slot") == slot)
    alike = calls.filter(pl.col("stack").is_in(here["stack"].unique().implode()))
    return alike["slot"].n_unique() >= _SO_OFTEN and not alike["open"].any()
