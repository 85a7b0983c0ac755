"""Two groups of unknown members, and ranks that wait in a call of each, from one line: they may share members, or be
one group that ranks made at another place in the order of their groups."""

from __future__ import annotations

import msgspec

from rankandfile.model.diagnosis import Alternative
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.divergence import in_document
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.from_logs.proofs import failed_or_stands
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import in_calls, pending_row
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.waits.seen_elsewhere import seen_beside

from .all_joined import described, may_share_members


@finder(precedence=295)
def groups_that_may_share(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """Who goes through its groups in an order of its own waits in one for a member that waits in another: of a group
    whose members nobody recorded, that looks as if all had joined."""
    if wait_end.kind != "joined":
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    if patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN) and not failed_or_stands(facts):
        return None
    others = [other for other in may_share_members(facts, call) if _alike(facts, call, other)]
    if not others:
        return None
    numbers = sorted(facts.waits.pending.index(one) for one in (call, *others))
    calls = [facts.waits.pending[number] for number in numbers]
    whole = msgspec.structs.replace(wait_end, pending=tuple(numbers))
    named = {described(facts, one) for one in calls}
    return (
        _made_at_another_place(facts, whole, calls)
        if len(named) == 1
        else _in_other_orders(facts, whole, calls)
    )


def _in_other_orders(facts: Facts, wait_end: WaitEnd, calls: list[Pending]) -> Finding:
    return _finding(
        facts,
        wait_end,
        calls,
        "order_inversion",
        "All stand at one line, and who belongs to these groups is not recorded: ranks that belong to several may have "
        "come to them in other orders, and each then waits for one that waits in the other group.",
        perhaps(
            "skipped_collective",
            "A member that does not show may have left a call out.",
            decided_by="the source",
        ),
    )


def _made_at_another_place(facts: Facts, wait_end: WaitEnd, calls: list[Pending]) -> Finding:
    """One name, and several groups: a group is known by how many were made before it. Where ranks make theirs in other
    orders, each name is another group to each of them."""
    most = max(calls, key=lambda call: len(call.waiting))
    few = tuple(sorted(rank for call in calls if call is not most for rank in call.waiting))
    name = described(facts, most)
    found = _finding(
        facts,
        wait_end,
        calls,
        "group_mismatch",
        f"All stand at one line, in groups of one name, {name}, and who belongs to them is not recorded. They may be a "
        "family of groups, of which the network carries nothing; or one group: a group is known by how many were made "
        "before it, and the ranks may have made theirs in other orders.",
        perhaps(
            "order_inversion",
            "They may be several groups that share members, and be come to in other orders.",
            decided_by="the source: which ranks each group is made of",
        ),
    )
    # No family has a group of one rank alone, unless its other members left no dump.
    alone = len(few) == 1 < len(most.waiting) and not seen_beside(facts, few)
    return msgspec.structs.replace(found, culprits=few) if alone else found


def _finding(
    facts: Facts, wait_end: WaitEnd, calls: list[Pending], cause: str, why: str, other: Alternative
) -> Finding:
    return Finding(
        cause=cause,
        confidence="hypothesis",
        sentence=told(*(waiting(in_calls(facts, one)) for one in calls), why),
        divergence=in_document.circle(facts, wait_end),
        location=lookup.location_of(facts, pending_row(facts, calls[0])),
        evidence=cited(*(pending_row(facts, one) for one in calls)),
        contradicted_by="a list of the members, in which no rank is in two of the groups",
        alternatives=(
            other,
            perhaps(
                "network_stalled",
                "If they share no member, the network may carry nothing.",
                decided_by="the members",
            ),
        ),
    )


def _alike(facts: Facts, *calls: Pending) -> bool:
    """All wait in one kind of call, and have come to it by one way, or stand at one line where no way is recorded."""
    ways = {_way(facts, one, rank) for one in calls for rank in one.waiting}
    return len(ways) == 1 and None not in ways


def _way(facts: Facts, call: Pending, rank: int) -> tuple[object, ...] | None:
    row, stand = lookup.call_at(facts, rank, call.group, call.slot or 0), facts.hosts.get(rank)
    if row is not None and row["path"] is not None:
        return row["op"], row["path"]
    at = stand.location if stand is not None else None
    return (row["op"], at.file, at.line) if row is not None and at is not None else None
