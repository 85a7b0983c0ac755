"""All ranks but one wait in one call, and that one in a call of a group whose members nobody lists.

A call of a group has at least two members: those that the one lacks are among the others. So each side waits for the
other, as far as the lines tell; that the groups have these members is what they do not tell.
"""

from __future__ import annotations

from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.document import perhaps
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending
from rankandfile.reason.words import ranks_words, upper, verb

from .in_words import in_calls, wait_list
from .settings import SETTINGS
from .waits import LoggedWaits

#: So many are needed for one other to be out of line.
_MOST = 3


@heuristic("in an unlisted group", "who alone waits in a group whose members nobody lists is out of line")
def one_in_an_unlisted_group(logged: LoggedWaits, world: int) -> Finding | None:
    calls = [call for call in logged.waits.pending if call.slot is not None]
    ranks = [rank for call in calls for rank in call.waiting]
    if len(calls) < 2 or len(calls) != len(logged.waits.pending) or sorted(ranks) != list(range(world)):
        return None
    most = max(calls, key=lambda call: len(call.waiting))
    others = [call for call in calls if call is not most]
    few = tuple(sorted(rank for call in others for rank in call.waiting))
    if len(few) > 1 or len(most.waiting) < _MOST or any(_may_be_whole(logged, call, few) for call in others):
        return None
    if logged.groups[most.group].told or any(call.group == most.group for call in others):
        return None
    wait_ends = [end for end in logged.waits.wait_ends if set(end.pending) & {calls.index(c) for c in others}]
    return Finding(
        cause="order_inversion",
        confidence="hypothesis",
        sentence=told(
            waiting(in_calls(logged, most)),
            *(waiting(in_calls(logged, call)) for call in others),
            f"Every other rank of the job is in the first of these calls, so whom {ranks_words(few)} "
            f"{verb(few, 'waits', 'wait')} for is there: {ranks_words(few)} {verb(few, 'is', 'are')} the odd "
            f"{verb(few, 'one', 'ones')} out, if the groups have these members.",
        ),
        culprits=few,
        doing={
            rank: f"alone in a call of {logged.groups[call.group].words}"
            for call in others
            for rank in call.waiting
        },
        victims=most.waiting,
        waits=tuple(row for end in wait_ends for row in wait_list(logged, end)),
        evidence=tuple(r.evidence for call in (*others, most) for r in logged.of_call(call)[:2]),
        missing=SETTINGS,
        alternatives=(
            perhaps(
                "skipped_collective",
                f"{upper(ranks_words(few))} may have left out the call of the others.",
                few,
                decided_by="dumps of all ranks",
            ),
            perhaps(
                "network_stalled", "The members may all be in their calls.", decided_by="dumps of all ranks"
            ),
        ),
        unadvised=("probes",),
    )


def _may_be_whole(logged: LoggedWaits, call: Pending, few: tuple[int, ...]) -> bool:
    group = logged.groups[call.group]
    return (group.told and set(group.members) <= set(few)) or (len(call.waiting) > 1 and not group.told)
