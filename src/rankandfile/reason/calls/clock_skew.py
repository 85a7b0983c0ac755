"""Clocks of hosts that are minutes apart, by the collectives their ranks made together; and the calls on one clock.

Members of a collective come to it at about the same moment, over and over. A rank whose calls always bear a later time
than the others' has a clock that is ahead. Which clock is right, this does not tell: files are written after the last
call in them, and of the clocks that allow that, the latest is taken, under which the job has stood still the least.
"""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.heuristics import heuristic

from .call_table import COLLECTIVE, CallTable

_LEAST_NS = 30_000_000_000
"""Less may be a rank that is late."""
_FEWEST_CALLS = 3


@heuristic("clock skew", "hosts whose calls are minutes apart have clocks that are", otherwise={})
def ahead(case: Case, call_table: CallTable) -> dict[int, int]:
    """Rank -> by how much its clock is ahead of the one that is taken, in nanoseconds (negative: behind it).

    Empty, as it mostly is, if all agree.
    """
    lasts = call_table.calls.group_by("rank").agg(pl.col("created_ns").max())["created_ns"].drop_nulls()
    if lasts.len() < 2 or int(lasts.max()) - int(lasts.min()) < _LEAST_NS:  # type: ignore[arg-type]
        return {}
    key = ["group", "slot"]
    calls = call_table.calls.filter(
        (pl.col("kind") == COLLECTIVE) & pl.col("slot").is_not_null() & pl.col("created_ns").is_not_null()
    ).select("rank", *key, "created_ns")
    # The first to come to a call that all made is a witness of its time; a call that some never made has none.
    late = calls.with_columns((pl.col("created_ns") - pl.col("created_ns").min().over(key)).alias("late"))
    by_group = late.group_by("rank", "group").agg(pl.col("late").median(), pl.len())
    offsets: dict[int, int] = {
        rank: int(value)
        for rank, value in by_group.filter(pl.col("len") >= _FEWEST_CALLS)
        .group_by("rank").agg(pl.col("late").max()).iter_rows()
    }  # fmt: skip
    if not offsets or max(offsets.values()) < _LEAST_NS:
        return {}
    taken = _taken(case, offsets)
    return {rank: offset - taken for rank, offset in sorted(offsets.items())}


def _taken(case: Case, offsets: dict[int, int]) -> int:
    dumps = case.dumps_used.filter(pl.col("written_ns") >= pl.col("last_ns"))["rank"].to_list()
    possible = [offsets[rank] for rank in dumps if rank in offsets]
    return max(possible or offsets.values())


def on_one_clock(call_table: CallTable, offsets: dict[int, int]) -> CallTable:
    """The same calls, with the times of each rank moved by how far its clock is off."""
    shift = pl.col("rank").replace_strict(offsets, default=0, return_dtype=pl.Int64)
    return replace(call_table, calls=call_table.calls.with_columns(pl.col("created_ns") - shift))
