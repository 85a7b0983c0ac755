"""Stacks of processes of which nothing tells the ranks: where those stand, the odd ones first."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.snapshots import stack_id
from rankandfile.reason.ranks.merged_stacks import cohorts_of
from rankandfile.reason.ranks.threads import telling
from rankandfile.reason.words import verb

_MOST_PLACES, _MOST_NAMED, _FEWEST = 6, 8, 2


def unowned_stacks(case: Case) -> tuple[str, list[str]]:
    """A sentence on where they stand, and what it rests on; empty if every stack is some rank's."""
    rows = telling(case.snapshots, case.stacks, case.frames)
    nobody = pl.col("rank").is_null() & (pl.col("role") == "main") & pl.col("pid").is_not_null()
    rows = rows.filter(nobody).sort("ordinal").unique(["host", "pid"], keep="last", maintain_order=True)
    if not rows.height:
        return "", []
    by_process = rows.select(pl.col("pid").alias("rank"), "stack")
    places = cohorts_of(by_process, case.stacks, case.frames)[::-1]
    words = []
    for place in places[:_MOST_PLACES]:
        named = ", ".join(map(str, place.ranks[:_MOST_NAMED])) + (
            ", …" if len(place.ranks) > _MOST_NAMED else ""
        )
        words.append(
            f"{verb(place.ranks, 'process', 'processes')} {named} {verb(place.ranks, 'is', 'are')} "
            + (place.words if len(place.ranks) == 1 else place.words.replace(" its ", " their "))
        )
    first = {
        stack: stack_id(file, line) for stack, file, line in rows.select("stack", "file", "line").iter_rows()
    }
    cited = [first[place.stack] for place in places[:_MOST_PLACES] if place.stack in first]
    return (
        f"Nothing tells which ranks these are: {'; '.join(words)}.{_if_in_order(rows, case.world_size)}",
        cited,
    )


def _if_in_order(rows: pl.DataFrame, world: int | None) -> str:
    """Launchers start the processes of a machine in the order of their ranks, one right after the other."""
    pids, hosts = sorted(set(rows["pid"].to_list())), rows["host"].n_unique()
    if world or hosts > 1 or len(pids) < _FEWEST or pids[-1] - pids[0] + 1 != len(pids):
        return ""
    return f" If they are all of the job, process {pids[0]} is rank 0: they were started one after the other."
