"""Whether a test explains why all are missing that the others wait for.

`if rank == learner: learn() else: act()` parts the learner from one that waits behind both, and no more: where actors
are missing too, who went the same way as the one that waits, it says no more than which part each rank has in the job.
"""

from __future__ import annotations

import ast

from rankandfile.model.diagnosis import Verdict
from rankandfile.source.lines.decision import MOST_ASKED, Decision, Sides
from rankandfile.source.lines.divergence import CodeDivergence, waiting_and_missing


def leaves_some_unexplained(
    verdict: Verdict, decision: Decision, divergence: CodeDivergence, sides: Sides
) -> bool:
    """Whether, by its number, somebody who is missing as well took the way of those who wait."""
    test, function = decision.condition.node, decision.place.function
    if verdict.cause != "undetermined" or decision.condition.kind != "if" or not isinstance(test, ast.expr):
        return False
    waiting, missing = waiting_and_missing(verdict)
    here, there = divergence.normal, divergence.culprit
    if not ({*here.members} <= waiting and {*there.members} <= missing):
        return False
    ours, theirs = (sides.ways(side.rank, test, function) for side in (here, there))
    # Also of its own cohort: that all of these are missing does not say that one thing led them away.
    others = sorted(missing - {there.rank})[:MOST_ASKED]
    return len(ours) == len(theirs) == 1 and any(sides.ways(rank, test, function) == ours for rank in others)
