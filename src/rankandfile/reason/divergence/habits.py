"""The order in which a rank came to the calls of a circle, now and the time before."""

from __future__ import annotations

from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.waits.graph import WaitEnd

_MOST = 64


@heuristic(
    "habitual order",
    "in a circle, who came to its groups in another order than before is the culprit",
    otherwise=(),
)
def changed_their_order(facts: WaitFacts, wait_end: WaitEnd) -> tuple[int, ...]:
    """The ranks of the circle that came to its groups in another order than the time before; none, if all did.

    None either, if the order of one of them is not known: it may be the one that changed it for the others.
    """
    if set(wait_end.ranks) & set(absent_ranks(facts)):
        return ()
    places = {(c.group, c.slot) for i in wait_end.pending if (c := facts.waits.pending[i]).slot is not None}
    ranks = wait_end.ranks[:_MOST]
    changed = []
    for rank in ranks:
        mine = [(g, s) for g, s in places if rank in facts.membership.members[g]]
        if len(mine) < 2 or len({g for g, _ in mine}) < len(mine):
            continue
        before = [_record(facts, rank, g, (s or 0) - 1) for g, s in mine]
        now = [_record(facts, rank, g, s or 0) for g, s in mine]
        if all(record is not None for record in before) and _order(before) != _order(now):
            changed.append(rank)
    return tuple(changed) if len(changed) < len(ranks) else ()


def _record(facts: WaitFacts, rank: int, group: int, slot: int) -> int | None:
    row = lookup.call_at(facts, rank, group, slot)
    return None if row is None else int(row["record"])


def _order(records: list[int | None]) -> list[int]:
    """The calls by when they were made; one that was not made comes last."""
    return sorted(range(len(records)), key=lambda i: (records[i] is None, records[i] or 0, i))
