"""A circle of which every rank waits in a receive: nobody in it has sent. Some send was left out, or all receive before
they send. One circle does not tell which; several that share no rank and stand on the same line have that line in
common.
"""

from __future__ import annotations

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Location
from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import pending_row
from rankandfile.reason.words import ranks_words, upper

_FIRST = "receives before it sends"
_NOT_SENT = "waits in a receive, and has not sent what the next one waits for"


@finder(precedence=280)
@heuristic("circle of receives", "several circles of receives on one line have that line in common")
def circle_of_receives(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    own = _receives(facts, wait_end)
    if own is None:
        return None
    circles = {
        other.ranks: rows for other in facts.wait_ends if (rows := _receives(facts, other)) is not None
    }
    sites = [lookup.location_of(facts, row) for row in own.values()]
    alike = all(_same(site, sites[0]) for site in sites)
    ranks = sorted({rank for circle in circles for rank in circle})
    everywhere = all(
        _same(lookup.location_of(facts, row), sites[0]) for rows in circles.values() for row in rows.values()
    )
    proved = everywhere and len(circles) > 1 and len(ranks) == sum(map(len, circles))
    where = "; ".join(
        f"rank {rank} in the {lookup.call_words(facts, row)} for one of rank {peer}"
        for (rank, peer), row in list(own.items())[:4]
    )
    sentence = (
        f"{upper(ranks_words(wait_end.ranks))} each wait for a message that has not been sent: {where}."
    )
    behind = all(facts.waits.pending[index].busy for index in wait_end.pending)
    if behind:
        sentence += " Each makes its send after its receive."
    elif alike:
        sentence += " All of them wait at the same line: each may receive before it sends."
    if proved:
        sentence += f" So do {ranks_words([rank for rank in ranks if rank not in wait_end.ranks])}."
    return Finding(
        cause="order_inversion" if alike or behind else "skipped_collective",
        confidence="supported" if proved else "hypothesis",
        sentence=sentence,
        culprits=tuple(ranks) if proved else wait_end.ranks,
        doing=dict.fromkeys(ranks, _FIRST) if proved else dict.fromkeys(wait_end.ranks, _NOT_SENT),
        location=sites[0] if proved else None,
        evidence=tuple(lookup.evidence_of(row) for rows in circles.values() for row in rows.values())[:16],
        contradicted_by="a send of theirs that the recorder did not see",
        alternatives=(
            perhaps(
                "skipped_collective" if alike or behind else "order_inversion",
                "A send may have been left out."
                if alike or behind
                else "Both sides of a transfer may receive before they send.",
                decided_by="the source at these lines: who sends to whom, and when",
            ),
        ),
    )


def _receives(facts: Facts, wait_end: WaitEnd) -> dict[tuple[int, int], Row] | None:
    """(rank, peer) -> its receive; None for a circle in which anybody waits in something else."""
    if wait_end.kind != "cycle":
        return None
    found: dict[tuple[int, int], Row] = {}
    for call in (facts.waits.pending[index] for index in wait_end.pending):
        row = pending_row(facts, call)
        peers = call.lacking or call.unknown or call.busy
        if row is None or call.slot is not None or lookup.op_of(facts, row) != "recv" or len(peers) != 1:
            return None
        found[call.waiting[0], peers[0]] = row
    return found or None


def _same(one: Location | None, other: Location | None) -> bool:
    return one is not None and other is not None and (one.file, one.line) == (other.file, other.line)
