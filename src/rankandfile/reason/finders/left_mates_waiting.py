"""A circle of a call of many and one of a small group: who came to the first without the second has left that out.

Groups of one family do the same in each round. Where others, before they came to the call of many, made as many calls
in groups of that family as the one that the small group waits in, whoever stands beside them has passed by it; up to
the round before, its mates had made as many as those others.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.claims.in_words import circle
from rankandfile.reason.document import cited, not_come, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, in_calls, pending_row
from rankandfile.reason.words import ranks_words, upper, verb


class _Left(NamedTuple):
    many: Pending
    few: Pending
    ranks: tuple[int, ...]
    """Who waits in the call of many, and the other one lacks."""
    witnesses: tuple[int, ...]
    """Of whom each had made as many calls in a group of that family."""


@finder(precedence=286)
@heuristic(
    "left mates waiting", "who came to a call of many without the one of its own group has left that out"
)
def left_mates_waiting(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    left = _left(facts, wait_end)
    if left is None:
        return None
    row, came = pending_row(facts, left.few), pending_row(facts, left.many)
    those, it = ranks_words(left.ranks), verb(left.ranks, "it", "they")
    return Finding(
        cause="skipped_collective",
        confidence="supported",
        sentence=told(
            circle(wait_end.ranks, [in_calls(facts, call) for call in (left.many, left.few)]),
            f"{upper(ranks_words(left.witnesses))} had made as many calls in groups of this kind before "
            f"{verb(left.witnesses, 'it', 'they')} came to the {call_phrase(facts, left.many)}: {those} came there "
            f"without the {call_phrase(facts, left.few)}, so {it} left it, or one before it, out.",
        ),
        culprits=left.ranks,
        doing=dict.fromkeys(left.ranks, "went past that call, and waits in the next one of all"),
        victims=tuple(sorted({*left.many.waiting, *left.few.waiting} - {*left.ranks})),
        divergence=not_come(facts, left.few, row, left.ranks, left.few.waiting) if row is not None else None,
        location=lookup.location_of(facts, row),
        evidence=cited(*(each for each in (row, came) if each is not None)),
        contradicted_by=f"a record of that call on {those}",
        alternatives=(
            perhaps(
                "extra_collective",
                f"{upper(ranks_words(left.few.waiting))} may have made one call more in an earlier round.",
                left.few.waiting,
                decided_by=f"the dump of {those}",
            ),
        ),
    )


def _left(facts: Facts, wait_end: WaitEnd) -> _Left | None:
    if wait_end.kind != "cycle" or len(wait_end.pending) != 2:
        return None
    for many, few in permutations([facts.waits.pending[index] for index in wait_end.pending]):
        ranks = tuple(sorted({*few.lacking, *few.unknown}))
        if not ranks or few.slot is None or many.slot is None or not {*ranks} <= {*many.waiting}:
            continue
        mates, members = [*few.waiting], facts.membership.members
        witnesses = [
            rank
            for rank in many.waiting
            if rank not in members[few.group] and facts.call_table.of_rank(rank).height
        ]
        if len(witnesses) <= len(ranks) or {*mates} & {*many.waiting}:
            continue
        here = [_made_before(facts, rank, few, many.group, many.slot) for rank in witnesses]
        before = {_made_before(facts, rank, few, many.group, many.slot - 1) for rank in (*witnesses, *mates)}
        # Until the round before all were alike, and that call is of this round.
        began = before.pop() if len(before) == 1 else None
        if (
            began is not None
            and began < few.slot
            and all(made is not None and made >= few.slot for made in here)
        ):
            return _Left(many, few, ranks, tuple(witnesses))
    return None


def _made_before(facts: Facts, rank: int, call: Pending, group: int, slot: int) -> int | None:
    """How many calls the rank had made in its group of that call's family before it came to this call of all; None
    where it has not made that, or is in no such group, or in several."""
    made = facts.call_table.of_rank(rank)
    at = made.filter(group=group, slot=slot)["record"].min()
    families = facts.membership.families
    alike = (group for group, head in families.items() if head == families.get(call.group))
    own = [group for group in alike if rank in facts.membership.members[group]]
    if len(own) != 1 or not isinstance(at, int):
        return None
    last = made.filter((pl.col("group") == own[0]) & (pl.col("record") < at))["slot"].max()
    return last if isinstance(last, int) else 0
