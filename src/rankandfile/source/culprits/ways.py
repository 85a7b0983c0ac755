"""By how a decision came out: the side that went so."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from rankandfile.source.dependence.syntax import JUMPS, if_of
from rankandfile.source.lines.decision import Decision
from rankandfile.source.lines.divergence import CodeDivergence, Side
from rankandfile.source.lines.found_line import FoundLine

#: What it did by that, where that is all that parts them.
CAUSES_OF_JUMPS: dict[type[ast.stmt], str] = {
    ast.Continue: "skipped_collective",
    ast.Return: "skipped_collective",
    ast.Break: "early_exit",
}


def way_of_each(decision: Decision, divergence: CodeDivergence) -> dict[str, Side]:
    """By how the decision came out: the side that went so."""
    ours, theirs = decision.outcomes
    return {ours: divergence.normal, theirs: divergence.culprit}


def over_for(found: FoundLine) -> Side | None:
    """The side for which a loop was over, where the other went round once more."""
    decision, divergence = found.decision, found.divergence
    if found.kind not in ("decision", "changed", "keyed") or decision is None or divergence is None:
        return None
    ways = way_of_each(decision, divergence)
    return (ways.get("exhausted") or ways.get("loop left")) if "another round" in ways else None


def with_culprits(found: FoundLine, ranks: tuple[int, ...]) -> FoundLine:
    """The line as it looks where one side is known to be these ranks: they are the ones that diverged."""
    divergence, decision = found.divergence, found.decision
    if (
        divergence is None
        or divergence.settled
        or tuple(ranks) not in (divergence.normal.members, divergence.culprit.members)
    ):
        return found
    if divergence.culprit.members == tuple(ranks):
        return replace(found, divergence=replace(divergence, settled=True))
    if decision is not None:
        branching, condition = decision.branching, decision.condition
        if "end" not in (branching.normal, branching.culprit):
            condition = replace(condition, here=condition.there, there=condition.here)
        branching = replace(branching, normal=branching.culprit, culprit=branching.normal)
        decision = replace(
            decision,
            branching=branching,
            condition=condition,
            normal=decision.culprit,
            culprit=decision.normal,
        )
    swapped = replace(divergence, normal=divergence.culprit, culprit=divergence.normal, settled=True)
    return replace(found, divergence=swapped, decision=decision)


def turned_back(found: FoundLine) -> str | None:
    """What a guard clause made of the rank that diverged: it left something out, or was the only one that went on."""
    guard, decision, divergence = guard_of(found), found.decision, found.divergence
    if guard is None or decision is None or divergence is None:
        return None
    cause = CAUSES_OF_JUMPS.get(type(guard.body[-1]))
    if way_of_each(decision, divergence).get("taken") is divergence.culprit:
        return cause
    return "extra_collective" if cause == "skipped_collective" else None


def guard_of(found: FoundLine) -> ast.If | None:
    """The test, where it has no other way and ends in a jump."""
    decision = found.decision
    test = if_of(decision.place.function.node, decision.condition.node) if decision is not None else None
    return test if test is not None and not test.orelse and isinstance(test.body[-1], JUMPS) else None
