"""All have joined a call, and so has a rank without a dump of which two threads stand in a call each: in which order it
made them, nothing tells, and had it been that of the others, both would have ended.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.ranks.threads import threads_in_calls
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, pending_row
from rankandfile.reason.words import ranks_words, upper, verb

_SEVERAL = 2


@finder(precedence=290)
@heuristic(
    "order of threads", "who made two calls in two threads, and left no dump, made them in another order"
)
def order_of_threads(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "joined":
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    members = facts.membership.members[call.group]
    lost = (set(members) & set(absent_ranks(facts))) - set(call.waiting)
    if len(lost) != 1 or len(call.waiting) < len(members) - 1:
        return None
    named = tuple(lost)
    if threads_in_calls(facts.case).get(named[0], 0) < _SEVERAL:
        return None
    open_ = facts.call_table.of_rank(call.waiting[0]).filter((pl.col("group") == call.group) & pl.col("open"))
    if open_.height < _SEVERAL:
        # Its other thread is in a call of another group, or of none: these come in no one order.
        return None
    row, stand = pending_row(facts, call), facts.hosts.get(named[0])
    return Finding(
        cause="order_inversion",
        confidence="supported",
        sentence=(
            f"{upper(ranks_words(call.waiting))} {verb(call.waiting, 'waits', 'wait')} in the "
            f"{call_phrase(facts, call)}. {upper(ranks_words(named))}, whose dump is not there, has made as many calls "
            "by its log, and two of its threads stand in a call each. In one order, all would have ended: as it seems, "
            "its threads came the other way round."
        ),
        culprits=named,
        doing=dict.fromkeys(named, "stands in two calls, each made by a thread of its own"),
        victims=call.waiting,
        location=stand.location if stand is not None else None,
        evidence=(*cited(row), *(stand.evidence[:1] if stand is not None else ())),
        contradicted_by="its dump, with the calls in the order of the others",
        alternatives=(
            perhaps(
                "network_stalled",
                "It made them in the order of the others, and the network does not carry them.",
                decided_by=f"the dump of {ranks_words(named)}",
            ),
        ),
    )
