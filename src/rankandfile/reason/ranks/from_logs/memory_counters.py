"""Counters of control groups: what a kill that is known otherwise was for."""

from __future__ import annotations

from collections import Counter

import polars as pl
from msgspec.structs import replace

from .accounts import End

#: The kind of exit facts that count kills.
COUNTERS = "cgroup"


def out_of_memory(ends: dict[int, End], counters: pl.DataFrame, hosts: dict[int, str]) -> dict[int, End]:
    """`ends`, where the group of a killed rank counted a kill; or its host, as many as ranks were killed there.

    A group may have lost only a data worker: of a rank that nobody saw killed, a counter says nothing.
    """
    killed = [rank for rank, end in ends.items() if end.unexplained]
    if not killed or not counters.height:
        return ends
    there = Counter(hosts.get(rank) for rank in killed)
    out = dict(ends)
    for row in counters.iter_rows(named=True):
        count = int(row["error"].rpartition(" ")[2])
        for rank in killed:
            here = row["rank"] is None and row["host"] is not None and hosts.get(rank) == row["host"]
            if row["rank"] == rank or (here and count >= there[row["host"]]):
                whose = "its control group" if row["rank"] == rank else "its host"
                out[rank] = replace(
                    ends[rank],
                    words=f"{ends[rank].words}, out of memory by the counter of {whose}",
                    evidence=(*ends[rank].evidence, row["evidence"]),
                )
    return out
