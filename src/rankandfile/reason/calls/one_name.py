"""Several groups under one name: ranks that build different groups at once, or anew, may give them one name.

gloo records no members, and of a group that is gone no configuration tells any: then it is made up from who used the
name. Ranks that asked for different things under one number, had an end of it, and went on to other calls, were
not in one collective there. They are of different groups, and what one of them waits in, the others do not owe.

In: a case and its table of calls. Out: the case, each of these ranks in the group of those that it called alike with.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.heuristics import heuristic

from .call_table import COLLECTIVE, CallTable

_Asked = dict[int, int]
"""What one rank asked for: number of a call -> the number of its terms."""


def groups_apart(case: Case, call_table: CallTable) -> Case:
    """The case itself, where no name is shown to be that of several groups."""
    asked = _several(case, call_table)
    if not asked:
        return case
    rows, of = case.groups.rows(named=True), []
    for group, by_rank in sorted(asked.items()):
        alone = {**rows[_row_of(case, group)], "members": None, "members_from": None}
        for ranks in _sides(by_rank):
            number = 1 + max(row["group"] for row in rows)
            known = len(ranks) > 1
            rows.append(
                alone | {"group": number} | ({"members": ranks, "members_from": "inferred"} if known else {})
            )
            of += [(group, rank, number) for rank in ranks]
    moved = pl.DataFrame(of, schema={"group": pl.UInt32, "rank": pl.Int32, "own": pl.UInt32}, orient="row")
    return replace(
        case,
        groups=pl.DataFrame(rows, schema=case.groups.schema),
        calls=_moved(case.calls, moved),
        statuses=_moved(case.statuses, moved),
    )


def _row_of(case: Case, group: int) -> int:
    return int(case.groups["group"].index_of(group) or 0)


def _moved(table: pl.DataFrame, moved: pl.DataFrame) -> pl.DataFrame:
    own = table.select("group", "rank").join(moved, on=["group", "rank"], how="left", maintain_order="left")
    return table.with_columns(pl.coalesce(own["own"], table["group"]).alias("group"))


@heuristic(
    "several groups of one name",
    "who ended unlike calls of one number, and went on, were in different groups",
    otherwise={},
)
def _several(case: Case, call_table: CallTable) -> dict[int, dict[int, _Asked]]:
    """Group -> rank -> what it asked for, of groups that are several."""
    made_up = case.groups.filter(
        pl.col("members").is_null() | (pl.col("members_from") == "inferred").fill_null(True)
    )["group"]
    last = call_table.calls.group_by("rank").agg(pl.col("record").max().alias("last"))
    numbered = (pl.col("kind") == COLLECTIVE) & pl.col("slot").is_not_null() & ~pl.col("cut")
    calls = call_table.calls.filter(numbered & pl.col("group").is_in(made_up.implode())).join(last, on="rank")
    if not _unlike(calls.filter(~pl.col("open") & (pl.col("record") < pl.col("last")))):
        return {}
    # Where names repeat, what they asked for tells them apart also where somebody waits still.
    out: dict[int, dict[int, _Asked]] = {group: defaultdict(dict) for group in _unlike(calls)}
    of_several = calls.filter(pl.col("group").is_in([*out])).select("group", "rank", "slot", "terms")
    for group, rank, slot, terms in of_several.iter_rows():
        out[group][rank][slot] = terms
    return out


def _unlike(calls: pl.DataFrame) -> list[int]:
    """The groups in which different things were asked for under one number."""
    asked = calls.group_by("group", "slot").agg(pl.col("terms").n_unique())
    return [*asked.filter(pl.col("terms") > 1)["group"].unique().sort()]


def _sides(by_rank: dict[int, _Asked]) -> list[list[int]]:
    """Ranks that called alike are of one group; one of which that could be said of several is by itself."""
    sides: list[list[int]] = []
    open_: list[int] = []
    for rank in sorted(by_rank, key=lambda one: (-len(by_rank[one]), one)):
        fitting = [side for side in sides if all(_agree(by_rank[rank], by_rank[mate]) for mate in side)]
        if len(fitting) > 1:
            open_.append(rank)
        elif fitting:
            fitting[0].append(rank)
        else:
            sides.append([rank])
    return [sorted(side) for side in sides] + [[rank] for rank in open_]


def _agree(one: _Asked, other: _Asked) -> bool:
    return all(other.get(slot, terms) == terms for slot, terms in one.items())
