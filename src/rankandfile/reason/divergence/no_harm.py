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
    """Whether the members asked for different things in this call and whenever else they made it from the same lines,
    and none of them is unfinished. Where they agreed in a round before, one of them may be a call ahead since."""
    unlike = facts.mismatched.filter(pl.col("group") == group)["slot"]
    calls = facts.call_table.of_group(group)
    here = calls.filter(pl.col("slot") == slot)["stack"].unique()
    alike = calls.filter(pl.col("stack").is_in(here.implode()))
    slots = alike["slot"].unique()
    return len(slots) >= _SO_OFTEN and bool(slots.is_in(unlike.implode()).all()) and not alike["open"].any()
