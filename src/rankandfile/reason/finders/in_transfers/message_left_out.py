"""Somebody waits where no recorder looks, and one of those that wait for it made fewer transfers than in each round.

gloo keeps no sends and receives, but numbers them with the other calls. So of a rank that waits in a recorded call is
known how many it made in this round; who made fewer, where all others made as many as ever, owes the one that is lost.
"""

from __future__ import annotations

from rankandfile.model.causes import LEFT_MESSAGE_OUT
from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason.calls.unrecorded_transfers import made_all, made_fewer
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.from_stacks.kinds import may_be_in_a_transfer
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, pending_row, waiting_sentence
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import counted, ranks_words, upper, verb

#: Phrases that are said; groups of a kind, and ranks of each, that are asked.
_MOST = 4


@finder(precedence=235)
@heuristic("fewer transfers", "who made fewer transfers than in each round before left a message out")
def message_left_out(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "absent" or not {*wait_end.ranks} <= facts.hidden.keys():
        return None
    call = first_pending(facts, wait_end)
    if call is None or call.slot is None or call.unknown or patience(facts, call) is Patience.NOT_YET:
        return None
    if {*wait_end.ranks} | {*call.waiting} != {*facts.membership.members[call.group]}:
        return None
    if any(_elsewhere(facts.hosts.get(rank)) for rank in wait_end.ranks):
        return None
    fewer = {r: f for r in call.waiting if (f := made_fewer(facts.call_table, r, call.group, call.slot))}
    others = {rank: call.group for rank in call.waiting if rank not in fewer}
    if len(fewer) != 1 or not _made_all(facts, others, call.slot):
        return None
    (rank, (now, before)) = next(iter(fewer.items()))
    if not others and len(wait_end.ranks) > 1:
        # One against one: another ring may have other data, and as many messages as ever.
        others = _as_ever_elsewhere(facts, call, call.slot)
    row = pending_row(facts, call)
    those = ranks_words(wait_end.ranks)
    stands = [facts.hosts.get(missing) for missing in wait_end.ranks]
    # That all have fewer to send this time, only another one's numbers exclude, or that several stand in one where it
    # made none at all; that they are late, only their stacks.
    in_one = all(stand is not None and may_be_in_a_transfer(stand) for stand in stands)
    perhaps_not = not in_one or not (others or (now == 0 and len(stands) > 1))
    left_out = perhaps(
        "skipped_collective", f"Rank {rank} may have left a message out.", [rank], decided_by="the source"
    )
    held_up = perhaps(
        "host_blocked",
        f"{upper(those)} may be held up on the host, after a round that has fewer messages on rank {rank}.",
        wait_end.ranks,
        decided_by="stacks",
    )
    one_too_many = perhaps(
        "extra_collective",
        f"{upper(those)} may wait for one message too many.",
        wait_end.ranks,
        decided_by="the source",
    )
    as_ever = "; the others made as many as ever" if others else ""
    doing = f"{LEFT_MESSAGE_OUT}: made {counted(now, 'transfer')} before the call, not {before}"
    seen = [stand for stand in stands if stand is not None]
    return Finding(
        cause="undetermined" if perhaps_not else "skipped_collective",
        confidence="hypothesis" if perhaps_not else "supported",
        sentence=told(
            f"Rank {rank} came to the {call_phrase(facts, call)} with {counted(now, 'transfer')} since the call "
            f"before it, by the numbers of its calls, and with {before} each time before{as_ever}. "
            f"{upper(those)} {verb(wait_end.ranks, 'has', 'have')} not come to it, and {_where(facts, wait_end)}: "
            f"rank {rank} {'may have ' if perhaps_not else ''}left a message out, or its part of one.",
            waiting_sentence(facts, wait_end, wait_end.ranks),
        ),
        culprits=(rank,),
        doing={rank: doing},
        location=seen[0].location if seen else None,
        evidence=(*cited(row), *(one for stand in seen[:4] for one in stand.evidence[:1])),
        contradicted_by=f"a stack of {those} outside of any send or receive",
        alternatives=(*([left_out] if perhaps_not else []), *(() if others else (one_too_many,)), held_up),
    )


def _made_all(facts: Facts, group_of: dict[int, int], slot: int) -> bool:
    return all(made_all(facts.call_table, rank, group, slot) for rank, group in group_of.items())


def _as_ever_elsewhere(facts: Facts, call: Pending, slot: int) -> dict[int, int]:
    """Rank -> group of those in other groups of the same kind, as another ring, that came to this round with as many as
    ever; nobody where one of them made fewer, too. A few groups tell as much as all."""
    families, members = facts.membership.families, facts.membership.members
    kind = families.get(call.group, call.group)
    alike = [group for group in members if group != call.group and families.get(group, group) == kind]
    few = [(rank, group) for group in alike[:_MOST] for rank in members[group][:_MOST]]
    if any(made_fewer(facts.call_table, rank, group, slot) for rank, group in few):
        return {}
    return {rank: group for rank, group in few if made_all(facts.call_table, rank, group, slot)}


def _elsewhere(stand: Stand | None) -> bool:
    """It is known to wait in no transfer."""
    return stand is not None and stand.activity != "user_code" and not may_be_in_a_transfer(stand)


def _where(facts: Facts, wait_end: WaitEnd) -> str:
    phrases = dict.fromkeys(facts.hosts[rank].phrase for rank in wait_end.ranks if rank in facts.hosts)
    if phrases and {*wait_end.ranks} <= facts.hosts.keys():
        first, *more = [phrase.removeprefix("waiting ") for phrase in phrases][:_MOST]
        return f"{verb(wait_end.ranks, 'waits', 'wait')} {' or '.join((first, *more))}"
    return f"{verb(wait_end.ranks, 'sends and receives', 'send and receive')} too, which gloo does not record"
