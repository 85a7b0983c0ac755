"""Who waits in a transfer while all others have made theirs, and wait in a call: it makes one more than they do.

How many sends and receives each made before a call, gloo's numbers tell; that it waits in one, its stack. Nobody of the
others owes it a message: each has made as many as before each call like this one or, where that changes from call to
call, as many as all the others, as all ranks always did.
"""

from __future__ import annotations

from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason.document import cited, not_come, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.lookup import location_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.from_stacks.kinds import may_be_in_a_transfer
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, pending_row, waiting_sentence
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper


@finder(precedence=236)
@heuristic(
    "one transfer more", "who waits in a transfer that nobody owes it makes one more than all the others"
)
def one_more(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end)
    if wait_end.kind != "absent" or call is None or len(wait_end.ranks) != 1 or len(call.waiting) < 2:
        return None
    (rank,) = wait_end.ranks
    stand = facts.hosts.get(rank)
    if stand is None or stand.moving or stand.running or stand.died or not may_be_in_a_transfer(stand):
        return None
    if patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return None
    if rank not in facts.owed_by_nobody:
        return None
    row = pending_row(facts, call)
    # Of groups in which no call was recorded the numbers tell nothing, and only the source that there are none.
    of_it = "" if facts.code.makes_groups is False else " in that group"
    others = ranks_words(call.waiting)
    return Finding(
        cause="extra_collective",
        confidence="supported",
        sentence=told(
            f"Rank {rank} is {stand.phrase}, and has not come to the {call_phrase(facts, call)}. By the numbers of "
            f"gloo's calls, {others} have made all their sends and receives before it, and wait there: nobody "
            f"is left to be on the other side of one more{of_it}.",
            waiting_sentence(facts, wait_end, wait_end.ranks, named=True),
        ),
        culprits=wait_end.ranks,
        doing={rank: f"{stand.phrase}, in a transfer more than the others"},
        divergence=not_come(facts, call, row, wait_end.ranks, call.waiting),
        location=location_of(facts, row),
        evidence=(*cited(row), *stand.evidence[:1]),
        contradicted_by=f"a record of the call on rank {rank}",
        alternatives=(
            perhaps(
                "skipped_collective",
                f"{upper(others)} may all have left out a message that rank {rank} waits for.",
                call.waiting,
                decided_by="the source: who sends what to whom, and when",
            ),
        ),
    )
