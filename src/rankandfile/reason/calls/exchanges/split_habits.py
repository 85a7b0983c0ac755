"""Who breaks its habit in an all_to_all whose sums disagree: it has sent, or taken, the same amount each time before.

Tokens go to their experts: each member always sends all that it has, and takes what comes. Once one sends less, and
what all expect together is what all have always sent: nobody had been told of the lesser amount.

That blames it only where the other side's amounts were made for this round. Where all expect what they expected each
time before, too, one kept to it where another did not, and either may be out of date.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.calls.contracts import elements
from rankandfile.reason.facts import Facts

from .split_pairs import mirrored, tells
from .split_sums import exchange, sizes_of

_ROUNDS = 3
_FURTHEST = 64
_SIDES = ("in_sizes", "out_sizes")


class Habit(NamedTuple):
    """Whose amount is another one than ever before, in which call, and what it was."""

    rank: int
    slot: int
    sends: bool
    usual: int
    now: int
    others_as_before: bool = False
    """The other side's amounts are those of each time before: they were not made for this round, nor told."""


@heuristic(
    "habitual amount",
    "of an all_to_all, who alone sends or takes another amount than ever before is the odd one",
)
def broke_its_habit(facts: Facts, group: int, slot: int) -> Habit | None:
    """None where nobody's amount was always the same, or that of several changed, or the change is not what lacks."""
    first = slot - 1 if mirrored(facts, group, slot - 1, slot) else slot
    here, sums = sizes_of(facts, group, first), exchange(facts, group, first)
    if here is None or sums is None or sums.agrees:
        return None
    found = []
    for side, wanted in enumerate((sums.expected, sums.sent)):
        usual = _usual(facts, group, first, _SIDES[side])
        odd = [rank for rank in here if usual.get(rank) != here[rank][side]]
        if usual.keys() >= here.keys() and len(odd) == 1 and sum(usual[rank] for rank in here) == wanted:
            others = _usual(facts, group, first, _SIDES[1 - side])
            as_before = all(others.get(rank) == here[rank][1 - side] for rank in here)
            as_before = as_before and not _told(facts, group, first, len(here))
            found.append(Habit(odd[0], first, side == 0, usual[odd[0]], here[odd[0]][side], as_before))
    return found[0] if len(found) == 1 and len(here) > 2 else None


def _told(facts: Facts, group: int, slot: int, members: int) -> bool:
    """Whether they told each other numbers before: then what all keep to is each one's own word."""
    return any(
        tells(facts, group, earlier, members) for earlier in range(slot - 1, max(0, slot - _FURTHEST), -1)
    )


def _usual(facts: Facts, group: int, slot: int, side: str) -> dict[int, int]:
    """Rank -> the amount that it had in all calls that it made before by the way of this one, if it was always one."""
    calls = facts.call_table.of_group(group).filter(pl.col("slot") <= slot)
    ways = calls.filter(pl.col("slot") == slot).select("rank", "path", "terms").drop_nulls("path")
    ops = facts.call_table.terms
    before = calls.filter(pl.col("slot") < slot).join(ways.select("rank", "path"), on=["rank", "path"])
    amounts: dict[int, list[int]] = {}
    for row in before.join(facts.case.shapes, on="shape").iter_rows(named=True):
        if ops[row["terms"]].op == "all_to_all":
            amounts.setdefault(row["rank"], []).append(sum(elements(row[side])))
    return {rank: made[0] for rank, made in amounts.items() if len(made) >= _ROUNDS and len(set(made)) == 1}
