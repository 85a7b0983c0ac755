"""Like groups as one: of all the tensor-parallel groups, in how many does somebody wait?"""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Divergence
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts

from .graph import WaitEnd

#: Fewer like groups are not worth a sentence.
FEW = 3


@heuristic("like groups", "in how many of the groups of one kind ranks wait")
def family_words(facts: Facts, wait_end: WaitEnd, divergence: Divergence | None) -> str | None:
    """A sentence on the groups like the one in which the ranks diverged; None where there are few."""
    groups = {facts.waits.pending[index].group for index in wait_end.pending}
    diverged = [g for g in groups if divergence is not None and facts.case.group_label(g) == divergence.group]
    if len(diverged) != 1:
        return None
    (group,) = diverged
    families = facts.membership.families
    like = [other for other, head in families.items() if head == families.get(group)]
    if len(like) < FEW:
        return None
    waited_in = {pending.group for pending in facts.waits.pending if pending.waiting}
    stuck = sum(other in waited_in for other in like)
    name = facts.case.groups.row(by_predicate=pl.col("group") == group, named=True)["desc"]
    if stuck == len(like):
        return f"Ranks wait in all {len(like)} {name} groups."
    return f"In {len(like) - stuck} of {len(like)} {name} groups nobody waits."
