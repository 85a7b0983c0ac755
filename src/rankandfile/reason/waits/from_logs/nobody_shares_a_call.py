"""Every rank of the job waits in the call of some group, and no two of them in one call.

A group has two members at least, and those of them that are not in its call are ranks that wait in other calls. So each
waits for a rank that waits for another, and somewhere among them they wait in a circle. Nobody lists who belongs to
which group, so where that circle is, and who is out of line, is not told.
"""

from __future__ import annotations

from itertools import islice

from rankandfile.model.diagnosis import Cohort, Divergence
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending
from rankandfile.reason.words import ranks_words, upper

from .in_words import asked_in, in_calls, wait_list
from .open_causes import IN_A_CIRCLE, open_causes
from .settings import SETTINGS
from .waits import LoggedWaits

_MOST_CALLS = 4


@heuristic(
    "nobody shares a call", "ranks that all wait, no two of them in one call, wait for each other in a circle"
)
def nobody_shares_a_call(logged: LoggedWaits, world: int) -> Finding | None:
    calls = logged.waits.pending
    ranks = sorted(rank for call in calls for rank in call.waiting)
    groups = {call.group for call in calls}
    if len(calls) < 2 or len(groups) < len(calls) or ranks != list(range(world)):
        return None
    if any(_may_be_whole(logged, call) for call in calls):
        return None
    shown = sorted(calls, key=lambda call: call.waiting)[:_MOST_CALLS]
    # There may be a hundred thousand ends, of which a few are shown.
    rows = (row for end in logged.waits.wait_ends for row in wait_list(logged, end))
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=told(
            *(waiting(in_calls(logged, call)) for call in shown),
            f"{upper(ranks_words(ranks))} all wait, and no two of them in one call: each "
            "waits for a rank that waits in another group, so some of them wait for each other in a circle.",
        ),
        victims=tuple(ranks),
        divergence=Divergence(
            group=logged.groups[shown[0].group].words,
            members=None,
            seq=shown[0].slot,
            kind="cycle",
            # The others wait in calls of other groups than this one, and are told without them.
            cohorts=[
                Cohort(ranks=format_ranks(shown[0].waiting), call=asked_in(logged, shown[0])),
                *(Cohort(ranks=format_ranks(call.waiting)) for call in shown[1:]),
            ],
            exact=False,
        ),
        waits=tuple(islice(rows, _MOST_CALLS)),
        evidence=tuple(r.evidence for call in shown for r in logged.of_call(call)[:1]),
        missing=SETTINGS,
        alternatives=open_causes(IN_A_CIRCLE, decided_by="the dumps of these ranks"),
        unadvised=("anti_advice", "probes"),
    )


def _may_be_whole(logged: LoggedWaits, call: Pending) -> bool:
    """All members may be in it: they are told and there, or more than one waits there; or it is a transfer."""
    group = logged.groups[call.group]
    all_here = group.told and set(group.members) <= set(call.waiting)
    return call.slot is None or len(call.waiting) > 1 or all_here
