"""Which of those that disagree in a call goes on as all had done before, by what the recorded ranks made up to it.

A call has its number on every member, so each had ended those before it: the past of one that left a dump is that of
one that left none, too. Where a round of it has calls of several kinds, who had left out or added one long ago would
have met another call within a round: what parted the ranks happened since.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.calls.requests import Request, agree, history, same
from rankandfile.reason.calls.rounds import always_followed, find_loop
from rankandfile.reason.divergence.alignment import Tokens
from rankandfile.reason.divergence.earlier_rounds import due, telling
from rankandfile.reason.facts import Facts

#: So often the same was asked for there, before another size is no turn of the data.
_TIMES = 2
#: Once in so many times another call may have come there, as in a job's first round.
_NEARLY = 0.9
#: So often sizes must have come in turn.
_TURNS = 4


class GoesOn(Struct, frozen=True):
    side: int
    """The one of the parts that does what the calls before predict."""
    known: bool
    """What the others do instead is a call of another place in the round, or the same call of another size: no step
    that all might have been due to take for the first time."""


@heuristic(
    "the common past", "of calls at one number, the one that goes on as the common calls before is normal"
)
def goes_on(facts: Facts, group: int, slot: int, parts: Sequence[Sequence[Request]]) -> GoesOn | None:
    claims = [claim for side in parts for claim in side]
    past = history(facts, group, [claim.rank for claim in claims], before=slot)
    if not past or any(claim.site is None for claim in claims):
        return None
    if len({(claim.asked[0], claim.site) for claim in claims}) == 1:
        # In one line sizes may come in turn, as those of two models' gradients do.
        return _as_large_as_before(past, parts) or (_fits(past, parts) if _come_in_turn(past) else None)
    found = _fits(past, parts)
    if found is None:
        return None
    # Sizes that the data make lead to whatever round had the same ones last: without them the same must come of it.
    bare = _fits([_bare(claim) for claim in past], [[_bare(claim) for claim in side] for side in parts])
    return found if bare is None or bare.side == found.side else None


def _fits(past: Sequence[Request], parts: Sequence[Sequence[Request]]) -> GoesOn | None:
    tokens, kinds = _tokens(past)
    expected = due(tokens, 1)
    # A round of one kind of call would have let a shift pass unseen; calls that were made but once are of no round.
    several = any(_of_several_kinds(calls) for calls in (tokens, telling(tokens)))
    if not len(expected) or not (several or _always_next(tokens, int(expected[0]))):
        return None
    if not always_followed(telling(tokens)):
        return None
    fits = [i for i, side in enumerate(parts) if all(same(kinds[int(expected[0])], claim) for claim in side)]
    if len(fits) != 1:
        return None
    others = [claim for i, side in enumerate(parts) if i != fits[0] for claim in side]
    return GoesOn(fits[0], all(any(same(known, claim) for known in kinds) for claim in others))


def _come_in_turn(past: Sequence[Request]) -> bool:
    """Sizes that the data make may look like a round for a while."""
    tokens, _ = _tokens(past)
    loop = find_loop(tokens)
    return loop is not None and loop.period > 1 and len(tokens) - loop.start >= _TURNS * loop.period


def _bare(claim: Request) -> Request:
    return claim._replace(asked=(claim.asked[0], None))


def _tokens(past: Sequence[Request]) -> tuple[Tokens, list[Request]]:
    """A number for each, like ones alike, and what each number stands for."""
    kinds: list[Request] = []
    return np.array([_token(kinds, claim) for claim in past], dtype=np.uint64), kinds


def _token(kinds: list[Request], claim: Request) -> int:
    for number, known in enumerate(kinds):
        if same(known, claim):
            return number
    kinds.append(claim)
    return len(kinds) - 1


def _of_several_kinds(calls: Tokens) -> bool:
    loop = find_loop(calls)
    return loop is not None and len({*calls[loop.start : loop.start + loop.period].tolist()}) > 1


def _always_next(tokens: Tokens, expected: int) -> bool:
    """Whether the last call was made before, and the expected one, of another kind, came next nearly each time: where
    rounds differ in length, what follows a call still does."""
    after = tokens[1:][tokens[:-1] == tokens[-1]]
    same = int((after == expected).sum())
    return expected != tokens[-1] and same >= _TIMES and same >= _NEARLY * len(after)


def _as_large_as_before(past: Sequence[Request], parts: Sequence[Sequence[Request]]) -> GoesOn | None:
    """One call of several sizes: the side that asks for what all asked for each time before."""
    one = parts[0][0]
    before = [claim for claim in past if claim.site == one.site and claim.asked[0] == one.asked[0]]
    if len(before) < _TIMES or len({claim.asked for claim in before}) > 1:
        return None
    fits = [i for i, side in enumerate(parts) if agree(side[0].asked, before[0].asked)]
    return GoesOn(fits[0], known=True) if len(fits) == 1 else None
