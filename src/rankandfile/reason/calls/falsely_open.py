"""Calls that only look open: the recorder asks from a thread of its own, which may never have come to ask.

A rank that holds Python's lock from right after its last call on is such a one. If all others have that call behind
them, and its stack stands in work of its own, it waits in none. Of torch's own recorder this is not supposed: what it
knows does not depend on Python; nor of calls on a device, which the host need not wait for.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case
from rankandfile.reason.ranks.host import Stand

_OPEN = ("open_slot", "open_record", "open_state")


def without_unasked(case: Case, standings: pl.DataFrame, hosts: dict[int, Stand]) -> pl.DataFrame:
    """The standings, in which such ranks have nothing open in groups where all others are through with it."""
    rings = case.dumps_used.filter((pl.col("format") == "ring") & (pl.col("backend") == "gloo"))
    call_table = [rank for rank in rings["rank"].drop_nulls() if (stand := hosts.get(rank)) and _works(stand)]
    if not call_table:
        return standings
    other = pl.col("completed").fill_null(-1)
    # The second smallest of the group, where the rank's own is the smallest.
    least = (
        pl.when(other.arg_min().over("group") == pl.int_range(pl.len()).over("group"))
        .then(other.bottom_k(2).max().over("group"))
        .otherwise(other.min().over("group"))
    )
    through = pl.col("rank").is_in(call_table) & (least >= pl.col("last")) & (pl.len().over("group") > 1)
    return standings.with_columns(
        pl.when(~through.fill_null(False)).then(pl.col(name)).alias(name) for name in _OPEN
    )


def _works(stand: Stand) -> bool:
    """It waits for nobody: at work, as often as somebody looked."""
    return not stand.died and (
        stand.waits == "no" or (stand.activity == "user_code" and stand.running is True)
    )
