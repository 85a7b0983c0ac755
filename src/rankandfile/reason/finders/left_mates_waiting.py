"""A circle of a call of many and one of a small group: who came to the first without the second has left that out.

Groups of one family do the same in each round, if they have done so as far back as is recorded. Where others, before
they came to the call of many, made as many calls in groups of that family as in a round before, and the one that the
small group waits in is not one more, whoever stands beside them has passed by it.
"""

from __future__ import annotations

from itertools import pairwise, permutations
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
    """Of whom each had made as many calls in a group of that family since the call of many before."""


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
            f"{upper(ranks_words(left.witnesses))} had made as many calls in groups of this kind in that round before "
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
        if len(witnesses) <= len(ranks) or len(ranks) > len(mates) or {*mates} & {*many.waiting}:
            continue
        rounds = {rank: _in_rounds(facts, rank, few, many.group) for rank in (*witnesses, *mates)}
        here = {rounds[rank].pop(many.slot, None) for rank in witnesses}
        one = here.pop()
        shared = set.intersection(*({*each} for each in rounds.values()))
        before = [{each[slot] for each in rounds.values()} for slot in shared]
        alike = all(len(numbers) == 1 for numbers in before)
        # A number that no round had before tells of no other group.
        if one is None or here or not alike or {one} not in before:
            continue
        if all(0 < _since(facts, mate, few, many) <= one for mate in mates):
            return _Left(many, few, ranks, tuple(witnesses))
    return None


def _in_rounds(facts: Facts, rank: int, call: Pending, group: int) -> dict[int, int]:
    """By the number of each call of all, how many calls in its group of that call's family the rank has made between
    the one before and that; none where it is in no such group, or in several."""
    families = facts.membership.families
    alike = (each for each, head in families.items() if head == families.get(call.group))
    own = [each for each in alike if rank in facts.membership.members[each]]
    if len(own) != 1:
        return {}
    made = facts.call_table.of_rank(rank).filter(pl.col("slot").is_not_null())
    of_all = made.filter(group=group).select("slot", "record").sort("slot").rows()
    records = made.filter(group=own[0])["record"]
    return {
        slot: int(records.is_between(since, record).sum())
        for (last, since), (slot, record) in pairwise(of_all)
        if slot == last + 1
    }


def _since(facts: Facts, rank: int, few: Pending, many: Pending) -> int:
    """How many calls of its group the rank has made in this round, with the one it waits in; 0 where that is not
    recorded."""
    made = facts.call_table.of_rank(rank)
    came = made.filter(group=many.group, slot=(many.slot or 0) - 1)["record"].max()
    return (
        made.filter((pl.col("group") == few.group) & (pl.col("record") > came)).height
        if came is not None
        else 0
    )
