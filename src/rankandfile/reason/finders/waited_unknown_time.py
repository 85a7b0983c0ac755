"""Ranks wait, and nothing tells for how long: a job that hangs and one that runs look like this."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.model.sentence import told
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import first_pending, in_calls, pending_row
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, verb


@finder(precedence=310)
def waited_unknown_time(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind not in ("absent", "behind", "joined"):
        return None
    call = first_pending(facts, wait_end)
    if call is None or patience(facts, call) is not Patience.UNKNOWN:
        return None
    row = pending_row(facts, call)
    last = wait_end.ranks or call.behind
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        hang=False,
        sentence=told(
            waiting(in_calls(facts, call), _state(wait_end, call)),
            "When the dumps were written is not known: their files bear the time of a copy, or none. A job that hangs "
            "looks like this, and so does one that runs.",
        ),
        evidence=cited(row),
        contradicted_by="the same call in a later dump",
        alternatives=(
            perhaps(
                "network_stalled" if wait_end.kind == "joined" else "host_blocked",
                "If the job did hang, this is where.",
                last,
                decided_by="the time at which the dumps were written, or a second set of dumps",
            ),
            perhaps(
                "no_hang",
                "If the job was running, this is an ordinary moment of it.",
                decided_by="the time at which the dumps were written, or a second set of dumps",
            ),
        ),
        missing=(
            Missing(
                what="the time at which the dumps were written",
                how="copy them with their times (cp -p, scp -p, tar), or add the job's log: the watchdog's lines say "
                "how long a call waited",
            ),
        ),
    )


def _state(wait_end: WaitEnd, call: Pending) -> str:
    if wait_end.kind == "absent":
        return f", and {ranks_words(wait_end.ranks)} {verb(wait_end.ranks, 'has', 'have')} not issued it."
    if wait_end.kind == "behind":
        device = verb(call.behind, "the device", "the devices")
        return (
            f", and {device} of {ranks_words(call.behind)} {verb(call.behind, 'has', 'have')} not begun it."
        )
    return ", which all members have joined."
