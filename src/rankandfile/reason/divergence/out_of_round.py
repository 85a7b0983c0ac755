"""As many ranks went one way as the other at a call, but their whole programs differ earlier, and the rounds before say
who: one side went on there as in all rounds until then, the other left a call out, or made one more.

Where a group has two members, nothing shows that in the group itself: the call that one left out is answered by the one
that it makes a round later. The calls on other groups in between do show it.
"""

from __future__ import annotations

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.calls.rounds import find_loop
from rankandfile.reason.calls.whole_programs.one_program import ProgramDivergence, common_start
from rankandfile.reason.waits.facts import WaitFacts

from .alignment import Tokens
from .divergence_point import DivergencePoint
from .in_programs import from_program

_MOST = 64
_FEWEST_ROUNDS = 4


@heuristic("out of round", "of two sides alike, who left the rounds of both first is behind what parts them")
def out_of_round(facts: WaitFacts, tie: DivergencePoint) -> DivergencePoint | None:
    """The earlier call at which one side of this left the rounds that the other kept to; None if none shows one."""
    if tie.culprits or tie.slot is None or tie.confirmed or not tie.normal or not tie.other:
        return None
    if len(tie.normal) + len(tie.other) > _MOST:
        return None
    for kept, left in ((tie.normal, tie.other), (tie.other, tie.normal)):
        each = [_left(facts, tie, rank, mate) for rank in left for mate in kept]
        if each[0] is not None and None not in each:
            return from_program(facts, each[0], left, kept)
    return None


def _left(facts: WaitFacts, tie: DivergencePoint, rank: int, mate: int) -> ProgramDivergence | None:
    """The first difference of the two programs, if it is a call more or less on the group that they meet on, and the
    mate went on there as in all rounds before."""
    ours, theirs = facts.programs.of(mate), facts.programs.of(rank)
    found, starts = facts.programs.against(rank, mate), common_start(ours, theirs)
    if found is None or starts is None:
        return None
    difference = found.difference
    if difference.kind not in ("skipped", "extra") or not (difference.exact and difference.confirmed):
        return None
    skipped = difference.kind == "skipped"
    where = (ours, starts[0]) if skipped else (theirs, starts[1])
    at, head = where[1] + difference.slot, facts.programs.families.get(tie.group, tie.group)
    if at >= len(where[0].families) or int(where[0].families[at]) != head:
        return None
    return found if _usual(ours.tokens[starts[0] :], difference.slot) else None


def _usual(tokens: Tokens, at: int) -> bool:
    """Whether the call there is the one that all rounds before it make next."""
    loop = find_loop(tokens[:at])
    if loop is None or loop.start > loop.period or at - loop.start < _FEWEST_ROUNDS * loop.period:
        return False
    return at < len(tokens) and bool(tokens[at] == tokens[at - loop.period])
