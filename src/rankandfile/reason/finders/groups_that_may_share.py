"""Two groups of unknown members, and ranks that wait in a call of each, from one line: they may share members."""

from __future__ import annotations

import msgspec

from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.divergence import in_document
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import in_calls, pending_row
from rankandfile.reason.waits.patience import Patience, patience

from .all_joined import may_share_members


@finder(precedence=295)
def groups_that_may_share(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """Who goes through its groups in an order of its own waits in one for a member that waits in another: of a group
    whose members nobody recorded, that looks as if all had joined."""
    if wait_end.kind != "joined":
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    row = pending_row(facts, call)
    if row is None:
        return None
    others = [other for other in may_share_members(facts, call) if _alike(facts, row, other)]
    if not others:
        return None
    numbers = sorted(facts.waits.pending.index(one) for one in (call, *others))
    calls = [facts.waits.pending[number] for number in numbers]
    whole = msgspec.structs.replace(wait_end, pending=tuple(numbers))
    return Finding(
        cause="order_inversion",
        confidence="hypothesis",
        sentence=told(
            *(waiting(in_calls(facts, one)) for one in calls),
            "All stand at one line, and who belongs to these groups is not recorded: ranks that belong to several may "
            "have come to them in other orders, and each then waits for one that waits in the other group.",
        ),
        culprits=_few(facts, calls),
        divergence=in_document.circle(facts, whole),
        location=lookup.location_of(facts, pending_row(facts, calls[0])),
        evidence=cited(*(pending_row(facts, one) for one in calls)),
        contradicted_by="a list of members that share nobody",
        alternatives=(
            perhaps(
                "skipped_collective",
                "A member that does not show may have left a call out.",
                decided_by="the source",
            ),
            perhaps(
                "network_stalled",
                "If they share no member, nothing is carried in either.",
                decided_by="the members",
            ),
        ),
    )


def _few(facts: Facts, calls: list[Pending]) -> tuple[int, ...]:
    """Who waits elsewhere than most do, where the wait is none that the job is used to."""
    if any(patience(facts, one) in (Patience.NOT_YET, Patience.UNKNOWN) for one in calls):
        return ()
    most, *rest = sorted(calls, key=lambda one: len(one.waiting), reverse=True)
    few = tuple(sorted(rank for one in rest for rank in one.waiting))
    return few if len(few) < len(most.waiting) else ()


def _alike(facts: Facts, row: lookup.Row, other: Pending) -> bool:
    theirs = pending_row(facts, other)
    return theirs is not None and (theirs["op"], theirs["path"]) == (row["op"], row["path"])
