"""Calls in flight that nothing shows to be late: a job that runs, or one that ended in the middle of a call."""

from __future__ import annotations

from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.verdict.moved import moved
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, pending_row
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper, verb


@finder(precedence=320)
def in_flight(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind not in ("joined", "absent", "behind"):
        return None
    call = first_pending(facts, wait_end)
    if call is None or call.group in facts.membership.unsure:
        return None
    waited = patience(facts, call)
    if waited is not Patience.NOT_YET and not (waited is Patience.LATE and wait_end.kind == "behind"):
        return None
    row = pending_row(facts, call)
    if wait_end.kind == "absent":
        what = f"{upper(ranks_words(wait_end.ranks))} {verb(wait_end.ranks, 'has', 'have')} not come to the"
        what += f" {call_phrase(facts, call)} yet"
    else:
        what = f"All members have joined the {call_phrase(facts, call)}, which is in flight"
    why = (
        "between the stacks and the dumps the job moved, and nothing later shows that it stands"
        if moved(facts)
        else "when the dumps were written, it was not later than calls of this job usually are"
    )
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        hang=False,
        sentence=(
            f"{what}; {why}. If the job was running, there is no hang; if it had failed, its logs and exit codes say "
            "why."
        ),
        evidence=cited(row),
        contradicted_by="the same call still in flight in a later dump",
        explains=0,
        alternatives=(
            perhaps(
                "no_hang", "The job was running.", decided_by="a second dump in which the call has ended"
            ),
            perhaps(
                "network_stalled" if wait_end.kind == "joined" else "host_blocked",
                "If it has been in flight for long, this is a hang.",
                wait_end.ranks,
                decided_by="a second dump, or the time at which this one was taken",
            ),
        ),
    )
