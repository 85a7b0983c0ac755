"""Who waits for whom in a call that one rank gives to, or gets from: its root."""

from __future__ import annotations

from .in_words import ranks_of
from .kinds import kind_of, known, rooted
from .places import Cohort, StackDivergence
from .where_all_stand import WhereAllStand

#: What DDP sends of its buffers and parameters comes from the first rank.
_FROM_THE_FIRST = (
    "_distributed_broadcast_coalesced",
    "_default_broadcast_coalesced",
    "_sync_module_buffers",
    "_sync_buffers",
)


def are_past_it(of: WhereAllStand, divergence: StackDivergence) -> bool:
    """By their watchdogs' numbers the odd ones have been in the call of one root in which all others wait, as the root
    itself may: those do not wait for them."""
    if not all(rooted(cohort.stand) for cohort in divergence.usual):
        return False
    odd, others = ranks_of(divergence.odd), ranks_of(divergence.usual)
    if not of.numbers.keys() >= {*odd, *others}:
        return False
    return min(of.numbers[rank] for rank in odd) > max(of.numbers[rank] for rank in others)


def may_be_past(of: WhereAllStand, divergence: StackDivergence) -> bool:
    """Whether the odd ones may be done with a call of one root that the others still wait in. Not if its root is among
    these: nobody lacks what it gives, and it waits for those that have not come."""
    if not all(rooted(cohort.stand) for cohort in divergence.usual):
        return False
    waiting = set(ranks_of(divergence.usual))
    roots = {root[1] for rank in waiting if (root := of.stands[rank].asked.root) is not None}
    return not (roots and roots <= waiting)


def owes_all(of: WhereAllStand, divergence: StackDivergence) -> bool:
    """All others wait together for what the odd one alone is to give: had it given that, they would not."""
    if (
        len(divergence.usual) != 1
        or len(divergence.odd) != 1
        or kind_of(divergence.usual[0].stand) not in ("broadcast", "scatter")
    ):
        return False
    waiting, roots = divergence.usual[0], _roots(of, divergence.usual[0])
    return len(waiting.ranks) > 1 and roots == set(divergence.odd[0].ranks)


def lacks_all(of: WhereAllStand, cohort: Cohort, divergence: StackDivergence) -> bool:
    """What all give to one ends once all have: nobody stands in it still where all others are in a call of everybody's
    that is none of one root."""
    together = all(known(one.stand) and not rooted(one.stand) for one in divergence.usual)
    return kind_of(cohort.stand) in ("gather", "reduce") and together and not of.unseen


def is_its_root(of: WhereAllStand, cohort: Cohort) -> bool:
    """It waits for those that have not come: nobody who is past the call could have been there without it."""
    roots = _roots(of, cohort)
    return bool(roots) and kind_of(cohort.stand) in ("broadcast", "scatter") and roots <= set(cohort.ranks)


def _roots(of: WhereAllStand, cohort: Cohort) -> set[int]:
    roots = {root[1] for rank in cohort.ranks if (root := of.stands[rank].asked.root) is not None}
    return {0} if not roots and cohort.stand.op in _FROM_THE_FIRST else roots
