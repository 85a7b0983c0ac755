"""Sums of an all_to_all: what all members send must be what all members expect."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts

from .contracts import elements

_ROUNDS = 3


class Exchange(NamedTuple):
    sent: int
    expected: int

    @property
    def agrees(self) -> bool:
        return self.sent == self.expected


def exchange(facts: Facts, group: int, slot: int) -> Exchange | None:
    """None if it is no all_to_all, or a member's call is not there."""
    sizes = sizes_of(facts, group, slot)
    if sizes is None or len(sizes) < len(facts.membership.members[group]):
        return None
    return Exchange(sum(i for i, _ in sizes.values()), sum(o for _, o in sizes.values()))


@heuristic(
    "broken mirror", "of an all_to_all and its way back, who broke the mirror is the odd one", otherwise=()
)
def odd_one_out(facts: Facts, group: int, slot: int) -> tuple[int, ...]:
    """Members whose call is not the mirror of the one next to it, although everyone's was in the rounds before.

    What went out comes back: tokens to their experts and home, rows to columns and back.
    """
    here = sizes_of(facts, group, slot)
    for way in (1, -1):
        there = sizes_of(facts, group, slot + way)
        if here is None or there is None or not _mirrored_before(facts, group, slot, way):
            continue
        if here.keys() != there.keys():
            # Whoever went on alone is compared with nobody.
            continue
        odd = tuple(r for r in sorted(here) if here[r] != there[r][::-1])
        if odd and 2 * len(odd) < len(here):
            return odd
    return ()


def _mirrored_before(facts: Facts, group: int, slot: int, way: int) -> bool:
    seen = 0
    for earlier in range(slot - 1, max(0, slot - 64), -1):
        one, other = sizes_of(facts, group, earlier), sizes_of(facts, group, earlier + way)
        if one is None or other is None or earlier + way >= slot:
            continue
        sums_agree = sum(i for i, _ in one.values()) == sum(o for _, o in one.values())
        mirrored = all(one[r] == other[r][::-1] for r in one.keys() & other.keys())
        uneven = len(set(one.values())) > 1
        if uneven and sums_agree and mirrored:
            seen += 1
        if seen == _ROUNDS:
            return True
    return False


def sizes_of(facts: Facts, group: int, slot: int) -> dict[int, tuple[int, int]] | None:
    """Rank -> elements given and taken."""
    calls = facts.call_table.calls.filter((pl.col("group") == group) & (pl.col("slot") == slot))
    ops = {facts.call_table.terms[t].op for t in calls["terms"]}
    if ops != {"all_to_all"}:
        return None
    joined = calls.select("rank", "shape").join(facts.case.shapes, on="shape")
    return {
        row["rank"]: (sum(elements(row["in_sizes"])), sum(elements(row["out_sizes"])))
        for row in joined.iter_rows(named=True)
    }
