"""Ranks that the named ones' own victims wait for as well, and that are not named: they wait for nobody themselves.

Where one rank made another call than its peers, and a third has not come there at all, the call would not end without
the third either. It is no victim, and what it did is a matter of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.model.claims import Claim, NeverIssued, ranks_of
from rankandfile.model.diagnosis import Alternative
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import Clause
from rankandfile.reason import lookup
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from .graph import Pending, WaitEnd
from .in_words import first_pending, pending_row


def seen_to_wait(facts: Facts, rank: int) -> bool:
    """In a call that has not ended, or by a stack that does not move."""
    stand = facts.hosts.get(rank)
    waits = stand is not None and stand.waits == "ranks" and not (stand.died or stand.moving or stand.running)
    return rank in facts.waits.of_rank or waits


def awaited_too(
    facts: Facts, wait_end: WaitEnd, best: Finding, rest: Sequence[Finding]
) -> tuple[Clause | None, tuple[Alternative, ...]]:
    """What is said of them, and what may have been their part in it."""
    call = first_pending(facts, wait_end)
    divergence = best.divergence
    if call is None or wait_end.kind != "absent" or not best.culprits or not best.hang:
        return None, ()
    if divergence is None or divergence.kind != "substituted":
        return None, ()
    ranks = tuple(rank for rank in wait_end.ranks if rank in call.lacking and rank not in best.culprits)
    ranks = tuple(rank for rank in ranks if not seen_to_wait(facts, rank))
    if not ranks or not set(call.waiting) - {*best.culprits}:
        # Whom the culprits alone wait for need not come to their call at all.
        return None, ()
    own = next((one for one in rest if one.culprits and {*one.culprits} <= {*ranks}), None)
    return _clause(facts, call, ranks), (
        perhaps(
            own.cause if own is not None else "undetermined",
            f"{upper(ranks_words(ranks))} may have gone astray by {verb(ranks, 'itself', 'themselves')}, before that "
            "or as well.",
            ranks,
            decided_by=own.contradicted_by
            if own is not None
            else f"where {ranks_words(ranks)} stood: its stack",
        ),
    )


def _clause(facts: Facts, call: Pending, ranks: tuple[int, ...]) -> Clause | None:
    row = pending_row(facts, call)
    if row is None or call.slot is None:
        return None
    ids = [i for rank in ranks[:2] for i in lookup.standing_evidence(facts, rank, call.group)]
    claim = NeverIssued(
        ranks=format_ranks(ranks),
        group=lookup.group_words(facts, call.group),
        seq=row["seq"],
        op=lookup.op_of(facts, row),
        evidence=[lookup.evidence_of(row), *ids],
    )

    def words(held: Sequence[Claim]) -> str:
        left = ranks_of(held[0])
        where = "; ".join(
            f"{f'rank {rank} ' if len(left) > 1 else ''}{facts.hosts[rank].phrase}"
            for rank in left[:2]
            if rank in facts.hosts
        )
        come = (
            f"{upper(ranks_words(left))} {verb(left, 'has', 'have')} come to neither, and the others wait for"
        )
        return f"{come} {verb(left, 'it', 'them')} too{f': {where}' if where else ''}."

    return Clause(claims=(claim,), words=words)
