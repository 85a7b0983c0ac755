"""An all_to_all whose members have always given and taken alike, until one gives and takes another amount.

Without sizes of its own for each pair, an all_to_all cuts what each member has into equal slices, and all must have as
much. No record tells whether it was given such sizes; that all had as much in each call of this line before, whatever
it was, and that every amount can be cut into equal slices, makes it likely that it was not.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts

_ROUNDS = 3
_FURTHEST = 64


class OtherAmount(NamedTuple):
    ranks: tuple[int, ...]
    """Who has another amount than most."""
    amount: int
    """Rows: what is cut into slices."""
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
    rounds = _rows_of(facts, group, slot)
    here = rounds.pop(slot, {})
    amounts = [amount for amount in here.values() if amount is not None and amount % len(members) == 0]
    if len(amounts) < len(members) or len(set(amounts)) != 2:
        return None
    few, most = sorted(set(amounts), key=amounts.count)
    odd = tuple(sorted(rank for rank, amount in here.items() if amount == few))
    if len(odd) * 2 >= len(members):
        return None
    alike = all(_all_alike(sizes, len(members)) for sizes in rounds.values())
    return OtherAmount(odd, few, most, len(rounds)) if alike and len(rounds) >= _ROUNDS else None


def _all_alike(sizes: dict[int, int | None], members: int) -> bool:
    amounts = set(sizes.values())
    amount = next(iter(amounts))
    return len(sizes) == members and len(amounts) == 1 and amount is not None and amount % members == 0


def _rows_of(facts: Facts, group: int, slot: int) -> dict[int, dict[int, int | None]]:
    """Call -> rank -> the rows that it gives and takes, of this call and those of the same line before; None: not as
    many, or several tensors."""
    calls = facts.call_table.of_group(group).filter(pl.col("slot").is_between(slot - _FURTHEST, slot))
    sites = calls.filter(pl.col("slot") == slot)["site"].drop_nulls().unique()
    ops = facts.call_table.terms
    made = calls.filter(pl.col("site").is_in(sites.implode())).join(facts.case.shapes, on="shape")
    found: dict[int, dict[int, int | None]] = defaultdict(dict)
    for row in made.iter_rows(named=True):
        if ops[row["terms"]].op == "all_to_all":
            given, taken = row["in_sizes"] or [], row["out_sizes"] or []
            one = len(given) == len(taken) == 1 and given == taken and given[0]
            found[row["slot"]][row["rank"]] = given[0][0] if one else None
    return found
