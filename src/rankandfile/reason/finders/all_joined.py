"""A call that every known member joined and that does not finish, where the devices tell no more than that."""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Alternative, Missing
from rankandfile.reason import lookup
from rankandfile.reason.calls.membership import has_a_name
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, pending_row
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper, verb


@finder(precedence=300)
def all_joined(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "joined":
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    waited = patience(facts, call)
    unsure = call.group in facts.membership.unsure
    if waited in (Patience.NOT_YET, Patience.UNKNOWN) and not unsure:
        return None
    row = pending_row(facts, call)
    phrase = call_phrase(facts, call)
    who = f"{ranks_words(call.waiting)} {verb(call.waiting, 'waits', 'wait')}"
    sentence = f"Every member that shows has joined the {phrase}, and {who} in it, {waited.value}."
    others = perhaps_members(facts, call)
    if unsure:
        sentence += " Who belongs to the group is not recorded: a member that never used it would not show."
    in_another = tuple(rank for rank in others if facts.waits.of_rank.get(rank))
    in_none = tuple(rank for rank in others if rank not in in_another)
    for those, where in (
        (in_none, "elsewhere, in no recorded call"),
        (in_another, "in a call of another group"),
    ):
        if those:
            sentence += f" {upper(ranks_words(those))} {verb(those, 'stands', 'stand')} {where}, and may belong to it."
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=sentence,
        evidence=cited(row),
        contradicted_by="a later dump in which the call has ended",
        alternatives=_alternatives(call, lookup.op_of(facts, row) if row else None, unsure, others),
        missing=(
            Missing(
                what="the state of the devices",
                how="TORCH_NCCL_ENABLE_TIMING=1 records which device began the call; stacks show where each host is",
            ),
        ),
    )


_ROOT_UNKNOWN = ("broadcast", "reduce")


def perhaps_members(facts: Facts, call: Pending) -> tuple[int, ...]:
    """Ranks that may belong to a group whose members are not recorded: they stand still, and in no recorded call that
    would show whom they wait for, or in one that waits for members of the group: that may be a circle."""
    if call.group not in facts.membership.unsure:
        return ()
    members, unrecorded = set(facts.membership.members[call.group]), {*facts.hidden, *absent_ranks(facts)}
    still = (rank for rank, stand in facts.hosts.items() if not (stand.died or stand.moving))

    def may_be_owed(rank: int) -> bool:
        awaits = [facts.waits.pending[index].lacking for index in facts.waits.of_rank.get(rank, ())]
        return not awaits or any(members & set(lacking) for lacking in awaits)

    may_belong = {r for r in still if r not in members and r in unrecorded and may_be_owed(r)}
    own = described(facts, call)
    # Groups of one name are mostly a family that shares nobody; what else they may be, `groups_that_may_share` says.
    may_belong.update(
        rank
        for other in may_share_members(facts, call)
        if described(facts, other) != own
        for rank in other.waiting
    )
    return tuple(sorted(may_belong))


def described(facts: Facts, call: Pending) -> str | int:
    """What the program calls the call's group; groups that it gives no name are each their own."""
    name = facts.case.groups.row(by_predicate=pl.col("group") == call.group, named=True)["desc"]
    return str(name) if has_a_name(name) else call.group


def may_share_members(facts: Facts, call: Pending) -> tuple[Pending, ...]:
    """Calls that all who show have joined, as this one, on groups whose members are not recorded either: whoever waits
    in one of them may belong to this group, too. Not where a call of the group has ended, which shows its members.
    """
    if not _of_unknown_members(facts, call):
        return ()
    members = set(facts.membership.members[call.group])
    return tuple(
        other
        for other in facts.waits.pending
        if not other.lacking
        and members.isdisjoint(facts.membership.members[other.group])
        and _of_unknown_members(facts, other)
    )


def _of_unknown_members(facts: Facts, call: Pending) -> bool:
    if call.slot is None or call.group not in facts.membership.unsure:
        return False
    calls = facts.call_table.of_group(call.group)
    return not calls.filter(~pl.col("open") & (pl.col("slot") < call.slot)).height


def unseen_member(facts: Facts, call: Pending) -> tuple[Alternative, ...]:
    """Beside whatever else a call in a group of unknown members may wait for."""
    if call.group not in facts.membership.unsure:
        return ()
    words = "A member that does not show may never have joined: who belongs to the group is not recorded."
    return (perhaps("skipped_collective", words, decided_by="the group's members, in the source"),)


def _alternatives(
    call: Pending, op: str | None, unsure: bool, others: tuple[int, ...]
) -> tuple[Alternative, ...]:
    causes = [
        ("network_stalled", "All have begun it, and the network does not carry it."),
        ("gpu_stuck", "One member's device has not come to it."),
    ]
    if call.slot is not None:
        causes.append(("split_mismatch", "The members disagree on something that is not recorded."))
    if op in _ROOT_UNKNOWN:
        causes.insert(0, ("root_mismatch", f"The members may disagree on its root, which no {op} records."))
    if unsure:
        causes.insert(0, ("skipped_collective", "A member that does not show never joined."))
    told = tuple(perhaps(cause, words, decided_by="stacks of all ranks") for cause, words in causes)
    if not others:
        return told
    words = f"{upper(ranks_words(others))} may belong to the group and have left the call out."
    return (
        perhaps("skipped_collective", words, others, decided_by="the group's members, in the source"),
        *told[1:],
    )
