"""Whom others wait for in a call, and that itself waits in a transfer past it: it has left that call out."""

from __future__ import annotations

from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.document import cited, not_come, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, waiting_sentence
from rankandfile.reason.waits.past_the_call import past_the_call
from rankandfile.reason.waits.patience import Patience, much_longer, patience, waited_ns
from rankandfile.reason.words import ranks_words, upper, verb


@finder(precedence=235)
@heuristic("past the call", "who waits in a transfer past the call of its peers has left it out")
def went_past(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end)
    if wait_end.kind != "absent" or call is None or call.slot is None:
        return None
    culprits = wait_end.ranks
    past = past_the_call(facts, culprits, call) if _waits_for_long(facts, call) else None
    if past is None:
        return None
    # One against one: as well the call may have been made where nobody was to make it.
    most = len(call.waiting) > len(culprits)
    at, last, row = past
    those, its = ranks_words(culprits), verb(culprits, "Its", "Their")
    where = "; ".join(dict.fromkeys(facts.hosts[rank].phrase for rank in culprits))
    return Finding(
        cause="skipped_collective",
        confidence="supported" if most else "hypothesis",
        sentence=told(
            f"{upper(those)} left out the {call_phrase(facts, call)}. {its} last call, "
            f"the {lookup.call_words(facts, last)}, was made from "
            f"{lookup.short_file(at.file)}:{at.line} in {at.function}, as by the others, who went on to that call from "
            f"there; {those} {verb(culprits, 'is', 'are')} past it, {where}.",
            waiting_sentence(facts, wait_end, culprits, named=True),
        ),
        culprits=culprits,
        doing={rank: f"{facts.hosts[rank].phrase}, past that call" for rank in culprits},
        divergence=not_come(facts, call, row, culprits, call.waiting),
        location=lookup.location_of(facts, row),
        evidence=(*cited(row, last), *(i for rank in culprits[:4] for i in facts.hosts[rank].evidence[:1])),
        contradicted_by=f"a record of the call on {those}",
        alternatives=(
            perhaps(
                "extra_collective",
                f"{upper(ranks_words(call.waiting))} may have made that call where nobody was to make it.",
                call.waiting,
                decided_by="the source: which ranks are to make it",
            ),
        ),
    )


def _waits_for_long(facts: Facts, call: Pending) -> bool:
    """That they are past it says more than a pause does: of a job with few calls, it need not have been as long as of
    others."""
    if patience(facts, call) not in (Patience.NOT_YET, Patience.UNKNOWN):
        return True
    waited = waited_ns(facts, call)
    return waited is not None and much_longer(facts, waited)
