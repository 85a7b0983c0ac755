"""Whom a guard clause names: `if not usable(batch): continue` turns back who is not to go on.

A test that stands before the rest of its block, has no other way, and ends in `continue`, `break`, `return` or `raise`
is written for the exception: what follows it is what is meant. Where as many ranks took the one way as the other, and
no earlier round shows which is usual, the code says so.
"""

from __future__ import annotations

import ast

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import Heuristic
from rankandfile.source.dependence.syntax import loops_around, spans
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words, ranks_of
from rankandfile.source.lines.found_line import FoundLine

from .by_few import upon_its_own
from .ways import CAUSES_OF_JUMPS, guard_of, way_of_each

_TURNED_BACK = Heuristic(
    "turned back", "who is turned back by a guard clause, on what is its own, left the way that is meant"
)


def who_turned_back(
    verdict: Verdict, found: FoundLine, divergence: CodeDivergence, unusual: Side | None
) -> NamedByCode | None:
    """`unusual`: the side that did otherwise than in all rounds before, where these show one.

    None where more ranks were turned back than went on: then to go on is the exception. Nor where some of those who
    wait are on neither side: theirs may be the way that is not meant."""
    guard = guard_of(found)
    if guard is None or found.decision is None or found.decision.branching.guessed or not upon_its_own(found):
        return None
    side = way_of_each(found.decision, divergence).get("taken")
    if side is None or _goes_on_inside(found, guard, side) or _TURNED_BACK.off:
        return None
    other = divergence.other_than(side)
    ranks = side.members
    waiting = {rank for wait in verdict.waits for rank in ranks_of(wait.ranks)}
    if waiting - {*ranks, *other.members}:
        return None
    suspects = tuple(one.rank for one in verdict.suspects)
    if len(ranks) > len(other.members) or unusual is other or (suspects and suspects != ranks):
        return None
    return NamedByCode(
        ranks=ranks,
        doing=f"was turned back at {found.decision.place.at(found.decision.condition.line)}",
        sentence=f"The test there is a guard clause, written for the exception: it turned {ranks_in_words(side)} back.",
        cause="early_exit"
        if _leaves_a_loop(found, guard, other)
        else CAUSES_OF_JUMPS.get(type(guard.body[-1])),
    )


def _leaves_a_loop(found: FoundLine, guard: ast.If, other: Side) -> bool:
    """It ends a loop of its function, and the other side is in that loop still."""
    if found.decision is None or not isinstance(guard.body[-1], (ast.Return, ast.Break)):
        return False
    function = found.decision.place.function
    file = found.decision.branching.frame.file
    return any(
        frame.file == file and spans(loop, frame.line)
        for loop in loops_around(function.module, guard)
        if isinstance(loop, (ast.For, ast.While))
        for frame in other.path
    )


def _goes_on_inside(found: FoundLine, guard: ast.If, side: Side) -> bool:
    """Its next call is one of the guard's own: a way like the other one."""
    assert found.decision is not None
    last = guard.end_lineno or guard.lineno
    own = found.decision.branching.frame[:2]
    return any(frame[:2] == own and guard.lineno < frame.line <= last for frame in side.path)
