"""Ranks wait, and no cause has a name for what their waits end in: that is still no quiet job."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = "undetermined"
_MOST = 4


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end)
    if call is None:
        return None
    rows = [row for rank in call.waiting if (row := _row(facts, rank, call))]
    asked: dict[str, lookup.Row] = {}
    for row in rows:
        asked.setdefault(f"{lookup.op_of(facts, row)} of {lookup.size_words(facts, row)}", row)
    if len(asked) > 1:
        what = f", in which not all members asked for the same thing: {'; '.join(list(asked)[:_MOST])}"
    else:
        what = ", and it does not end"
    return Finding(
        cause=CAUSE,
        confidence="hypothesis",
        hang=patience(facts, call) is not Patience.NOT_YET,
        sentence=(
            f"{upper(ranks_words(call.waiting))} {verb(call.waiting, 'waits', 'wait')} in the "
            f"{call_phrase(facts, call)}{what}. Who of them is out of line the calls do not tell."
        ),
        location=lookup.location_of(facts, rows[0]) if rows else None,
        evidence=tuple(lookup.evidence_of(row) for row in list(asked.values())[:_MOST]),
        contradicted_by="a recorder that logged other sizes than those of the call",
        missing=(
            Missing(
                what="the calls before this one, of every rank",
                how="the dump of each rank, with a larger ring",
            ),
        ),
    )


def _row(facts: Facts, rank: int, call: Pending) -> lookup.Row | None:
    if call.slot is None:
        return lookup.call_of_record(facts, rank, call.record or 0)
    return lookup.call_at(facts, rank, call.group, call.slot)
