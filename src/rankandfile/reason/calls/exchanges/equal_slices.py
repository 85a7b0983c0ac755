"""An all_to_all whose members have always given and taken alike, until one gives and takes another amount.

Without sizes of its own for each pair, an all_to_all cuts what each member has into equal slices, and all must have as
much. No record tells whether it was given such sizes; that all had as much in each call before, whatever it was, does.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts

from .split_sums import sizes_of

_ROUNDS = 3
_FURTHEST = 64


class OtherAmount(NamedTuple):
    ranks: tuple[int, ...]
    """Who has another amount than most."""
    amount: int
    usual: int
    before: int
    """In how many calls before all had as much as each other."""


@heuristic(
    "equal slices",
    "of an all_to_all in which all always had as much as each other, who has not is the odd one",
)
def has_another_amount(facts: Facts, group: int, slot: int) -> OtherAmount | None:
    """None where a member's call is not there, no amount is that of most, or it was not always the same for all."""
    members = facts.membership.members[group]
    here = _amounts(facts, group, slot)
    if len(here) < len(members) or len(set(here.values())) != 2:
        return None
    few, most = sorted(set(here.values()), key=lambda amount: sum(one == amount for one in here.values()))
    odd = tuple(sorted(rank for rank, amount in here.items() if amount == few))
    if len(odd) * 2 >= len(here):
        return None
    calls = facts.call_table.of_group(group).filter(pl.col("slot") < slot)
    earlier = calls["slot"].unique().sort(descending=True).to_list()[:_FURTHEST]
    exchanges = [
        sizes for n in earlier if (sizes := sizes_of(facts, group, n)) is not None and len(sizes) == len(here)
    ]
    alike = all(len({amount for pair in sizes.values() for amount in pair}) == 1 for sizes in exchanges)
    return OtherAmount(odd, few, most, len(exchanges)) if alike and len(exchanges) >= _ROUNDS else None


def _amounts(facts: Facts, group: int, slot: int) -> dict[int, int]:
    """Rank -> elements, where it gives as many as it takes."""
    sizes = sizes_of(facts, group, slot) or {}
    return {rank: given for rank, (given, taken) in sizes.items() if given == taken}
