"""Ranks wait, and no cause has a name for what their waits end in: that is still no quiet job."""

from __future__ import annotations

from rankandfile.model.advice import FIRST_LOGGER, STACKS
from rankandfile.model.causes import Cause
from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Missing
from rankandfile.model.sentence import told
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    Facts,
    Patience,
    Pending,
    WaitEnd,
    first_pending,
    in_calls,
    lookup,
    patience,
)
from rankandfile.reason.verdict.finding import Finding

CAUSE = Cause(
    word="undetermined",
    family="honesty",
    place=10,
    meaning="The evidence does not decide.",
    help="Blaming a rank without proof costs more than saying so. The verdict names what would decide.",
    anti_advice=(FIRST_LOGGER,),
    probes=(STACKS,),
    did="did not join, cause open",
    title="The evidence does not decide",
    page="""
## How it comes about

Better than a guess. The verdict still says how far the evidence leads, who waits where, and what to fetch next time or
right now. [`raf doctor`](../commands/doctor.md) sees to it that the next hang leaves enough.
""",
    scenario="blocked-save",
    shown_from="evidence/dumps",
)


_MOST = 4


@finder(precedence=400, of="open wait")
def unexplained(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end)
    if call is None:
        return None
    rows = [row for rank in call.waiting if (row := _row(facts, rank, call))]
    asked: dict[str, Row] = {}
    for row in rows:
        asked.setdefault(f"{lookup.op_of(facts, row)} of {lookup.size_words(facts, row)}", row)
    if len(asked) > 1:
        what = f", in which not all members asked for the same thing: {'; '.join(list(asked)[:_MOST])}"
    else:
        what = ", and it does not end"
    return Finding(
        cause=CAUSE.word,
        confidence="hypothesis",
        hang=patience(facts, call) is not Patience.NOT_YET,
        sentence=told(
            waiting(in_calls(facts, call), f"{what}. Who of them is out of line the calls do not tell.")
        ),
        location=lookup.location_of(facts, rows[0]) if rows else None,
        evidence=tuple(lookup.evidence_of(row) for row in list(asked.values())[:_MOST]),
        contradicted_by="a recorder that logged other sizes than those of the call",
        explains=0,
        missing=(
            Missing(
                what="the calls before this one, of every rank",
                how="the dump of each rank, with a larger ring",
            ),
        ),
    )


def _row(facts: Facts, rank: int, call: Pending) -> Row | None:
    if call.slot is None:
        return lookup.call_of_record(facts, rank, call.record or 0)
    return lookup.call_at(facts, rank, call.group, call.slot)
