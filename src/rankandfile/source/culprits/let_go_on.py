"""Whom a handler let go on: `except Malformed: log(...)` around what all others are still in the middle of.

A handler is written for the exception, as a guard clause is. Where one side can only have come to where it is through
one, and as many or more are still where nothing was raised, it left the way that is meant.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import Heuristic
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words, ranks_of
from rankandfile.source.lines.found_line import FoundLine
from rankandfile.source.lines.sentence import came_through

_LET_GO_ON = Heuristic("let go on", "who came through a handler left the way that is meant")


def who_was_let_go_on(verdict: Verdict, found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """None where more ranks came through it than not, or some of those who wait are on neither side."""
    if (
        found.decision is None
        or found.supposed
        or found.decision.condition.kind != "except"
        or found.decision.branching.guessed
    ):
        return None
    side = came_through(found)
    other = divergence.other_than(side)
    waiting = {rank for wait in verdict.waits for rank in ranks_of(wait.ranks)}
    suspects = tuple(one.rank for one in verdict.suspects)
    if (
        len(side.members) > len(other.members)
        or waiting - {*side.members, *other.members}
        or (suspects and suspects != side.members)
        or _LET_GO_ON.off
    ):
        return None
    return NamedByCode(
        ranks=side.members,
        doing=f"caught an exception at {found.at}, and went on",
        sentence=f"A handler is written for the exception: it let {ranks_in_words(side)} go on.",
        cause="swallowed_exception",
    )
