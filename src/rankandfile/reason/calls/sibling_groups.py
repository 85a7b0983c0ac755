"""Groups that are used alike: their calls come by the same paths, so that they are one thing of the program's layout.

A group that was made without a description does not say what it is for. Two that share no rank, are of one size and
are called from the same places are as much alike as two that are both called `mesh_tp`.

In: the table of calls, the members of groups, and the families that descriptions tell. Out: the same with these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from .call_table import CallTable


def by_use(
    call_table: CallTable, members: Mapping[int, Sequence[int]], families: Mapping[int, int]
) -> dict[int, int]:
    """Group -> family, named by its first group."""
    out = dict(families)
    alone = [group for group, ranks in members.items() if families.get(group) == group and len(ranks) > 1]
    uses = (
        call_table.calls.filter(pl.col("group").is_in(alone) & pl.col("path").is_not_null())
        .select("path", "group")
        .unique()
        .sort("group")
        .group_by("path", maintain_order=True)
        .agg("group")
        .filter(pl.col("group").list.len() > 1)
    )
    covered = {group: set(members[group]) for group in alone}
    for groups in uses["group"].to_list():
        for group in groups[1:]:
            head = out[groups[0]]
            alike = len(members[group]) == len(members[head])
            if out[group] == group and alike and covered[head].isdisjoint(members[group]):
                out[group] = head
                covered[head] |= covered[group]
    return out
