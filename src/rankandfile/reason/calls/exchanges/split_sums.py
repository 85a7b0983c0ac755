"""Sums of an all_to_all: what all members send must be what all members expect."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from rankandfile.reason.calls.contracts import elements
from rankandfile.reason.facts import Facts


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
