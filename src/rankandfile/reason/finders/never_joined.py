"""A rank that others wait for and that waits for nobody: it never issued the call, and did something else instead.

Who it is follows from the calls; what it did instead does not. The cause stays undetermined, with the culprit named.
"""

from __future__ import annotations

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Alternative, Confidence, Missing
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.document import cited, not_come, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import (
    call_phrase,
    first_pending,
    in_calls,
    pending_row,
    waiting_sentence,
)
from rankandfile.reason.waits.patience import Patience, is_new_work, patience
from rankandfile.reason.waits.unrecorded_waits import without_frames
from rankandfile.reason.words import ranks_words, upper, verb

from .in_transfers.unrecorded_wait import may_wait_unseen, what_they_do
from .making_a_group import may_be_making_a_group

INSTEAD = (
    (
        "host_blocked",
        "It may be stuck on the host: in a lock, the data loader, a file, a compile.",
        "its stack",
    ),
    ("raised", "It may have raised an exception, and be on its way out.", "its log"),
    ("killed", "Its process may be gone.", "exit codes, the kernel log of its host"),
    ("early_exit", "It may have left the loop, and be past all its collectives.", "its stack or its log"),
)

#: That it had not come follows from the calls; that it does not come, from how long they wait.
_HOW_SURE: dict[Patience, Confidence] = {
    Patience.OVER: "established",
    Patience.SAID: "established",
    Patience.NEW_WORK: "hypothesis",
}
#: Where a rank may wait for others in what its recorder does not keep.
_WITH_OTHERS = ("collective", "p2p", "init")
AFTER_NEW_WORK = (
    "it hung: the wait is longer than any pause before it, but what lies between this call and the one before it was "
    "done for the first time, and nothing tells how long it takes"
)
ON_ITS_WAY = perhaps(
    "no_hang", "The job was running, and this took its time.", decided_by="a second set of dumps"
)


@finder(precedence=240)
def never_joined(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "absent":
        return None
    call = first_pending(facts, wait_end)
    if call is None:
        return None
    waited = patience(facts, call)
    if waited in (Patience.NOT_YET, Patience.UNKNOWN):
        return None
    if set(wait_end.ranks) <= facts.hidden.keys():
        return may_wait_unseen(facts, wait_end, call)
    if may_be_making_a_group(facts, wait_end):
        return None
    if _most_of_the_group(wait_end, call):
        return _alone(facts, wait_end, call)
    culprits, new_work = wait_end.ranks, waited is Patience.NEW_WORK
    sure = _HOW_SURE.get(waited, "supported")
    unseen = any(r not in facts.hosts and without_frames(facts.case, r) for r in culprits)
    if (facts.hidden or unseen) and sure == "established":
        # In a job with transfers that no recorder keeps, it is by their number that it waits in none; and of who left
        # neither a stack nor a frame nobody knows that it is not in its first.
        sure = "supported"
    if waited is Patience.SAID and is_new_work(facts, call):
        sure = "supported" if _all_accounted_for(facts, culprits) else "hypothesis"
    tie = _not_come(wait_end, call) == len(call.waiting)
    if tie and sure == "established":
        # As many came as did not: those that came may have made a call that was never meant to be.
        sure = "supported"
    row = pending_row(facts, call)
    last = lookup.last_call(facts, culprits[0])
    done = (
        f"; {verb(culprits, 'its', 'their')} last call, the {lookup.call_words(facts, last)}, is done"
        if last
        else ""
    )
    sentence = (
        f"{upper(ranks_words(culprits))} {'had not' if new_work else 'never'} issued the "
        f"{call_phrase(facts, call)}{' yet' if new_work else ''}{done}. "
        f"What {verb(culprits, 'it does', 'they do')} instead, the dumps alone do not tell."
    )
    ids = [*cited(row, last)]
    for rank in culprits[:4]:
        ids += lookup.standing_evidence(facts, rank, call.group)
    doing = (
        f"no call in flight; its last one was the {lookup.call_words(facts, last)}"
        if last
        else "made no call"
    )
    lost = set(absent_ranks(facts))
    for ranks, why in (
        (tuple(r for r in call.unknown if r in lost), "left no complete dump"),
        (tuple(r for r in call.unknown if r not in lost), "left a dump in which this cannot be counted"),
    ):
        if ranks:
            sentence += f" {upper(ranks_words(ranks))} {why}, and may not have joined either."
    return Finding(
        cause="undetermined",
        confidence=sure,
        hang=None if new_work else True,
        assumed=AFTER_NEW_WORK if new_work else "",
        # Where their last call is one like it, "that all_reduce" would be either.
        sentence=told(
            sentence, waiting_sentence(facts, wait_end, culprits, named=not _like(facts, row, last))
        ),
        culprits=culprits,
        doing={rank: "left no complete dump" if rank in lost else doing for rank in culprits},
        divergence=None if new_work else not_come(facts, call, row, culprits, call.waiting),
        location=lookup.location_of(facts, row),
        evidence=tuple(dict.fromkeys(ids)),
        contradicted_by="a record of the call on that rank",
        alternatives=(
            *((ON_ITS_WAY,) if new_work else ()),
            *(perhaps(cause, words, culprits, decided_by=decided) for cause, words, decided in INSTEAD),
            *((_one_too_many(call),) if tie else ()),
        ),
        missing=(
            Missing(
                what=f"the stacks of {ranks_words(culprits)}",
                how="py-spy dump --pid PID on its host while it hangs, or start the job with `raf run`",
            ),
        ),
    )


def _all_accounted_for(facts: Facts, ranks: tuple[int, ...]) -> bool:
    """Whether these have made calls, and all others wait in one: who has made none may be setting up, and who waits in
    none may be whom these wait for, where no recorder looks."""
    others = {*range(facts.case.world_size or 0), *facts.case.ranks_seen} - {*ranks}
    made_some = all(lookup.last_call(facts, rank) is not None for rank in ranks)
    elsewhere = any(facts.hosts[r].activity in _WITH_OTHERS for r in ranks if r in facts.hosts)
    return made_some and not elsewhere and others <= facts.waits.of_rank.keys()


def _like(facts: Facts, one: Row | None, other: Row | None) -> bool:
    return one is not None and other is not None and lookup.op_of(facts, one) == lookup.op_of(facts, other)


def _most_of_the_group(wait_end: WaitEnd, call: Pending) -> bool:
    """Whether those that have not come are more than those that have; a member without a dump may decide a tie."""
    return _not_come(wait_end, call) + bool(call.unknown) > len(call.waiting)


def _not_come(wait_end: WaitEnd, call: Pending) -> int:
    return len(set(wait_end.ranks) & set(call.lacking))


def _alone(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding:
    """Few wait and most have not come: the few may have made a call that was never meant to be."""
    row = pending_row(facts, call)
    few, most = ranks_words(call.waiting), ranks_words(wait_end.ranks)
    tie = _not_come(wait_end, call) <= len(call.waiting)
    share = "as many of those whose dumps are here," if tie else "most of the group,"
    wait, are = verb(wait_end.ranks, "waits", "wait"), verb(wait_end.ranks, "is", "are")
    stacks = "the stacks of both, or the source at the call"
    late = perhaps("host_blocked", f"{upper(most)} did not come to it.", wait_end.ranks, decided_by=stacks)
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=told(
            waiting(
                in_calls(facts, call),
                f"; {most}, {share} did not come, and {wait} in no recorded call. Either {few} made a call too many, "
                f"or {most} {are} held up.",
            )
        ),
        location=lookup.location_of(facts, row),
        evidence=cited(row),
        contradicted_by="stacks",
        alternatives=(_one_too_many(call), late),
        missing=(what_they_do(facts, wait_end.ranks),),
    )


def _one_too_many(call: Pending) -> Alternative:
    """Those that wait are the ones who are wrong."""
    return perhaps(
        "extra_collective",
        f"{upper(ranks_words(call.waiting))} made a call that the others were not to make.",
        call.waiting,
        decided_by="the stacks of both, or the source at the call",
    )
