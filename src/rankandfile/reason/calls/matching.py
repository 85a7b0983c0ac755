"""Matching: the calls of one group and slot are one collective, and must have promised the same."""

from __future__ import annotations

import polars as pl

from .call_table import COLLECTIVE, CallTable


def mismatched(call_table: CallTable) -> pl.DataFrame:
    """The collectives whose members promised different things, earliest first: group, slot, root."""
    calls = call_table.calls.filter((pl.col("kind") == COLLECTIVE) & pl.col("slot").is_not_null())
    return (
        calls.group_by("group", "slot")
        .agg(
            pl.col("terms").min().alias("low"),
            pl.col("terms").max().alias("high"),
            pl.col("root").min().alias("low_root"),
            pl.col("root").max().alias("high_root"),
        )
        .with_columns((pl.col("low_root") != pl.col("high_root")).fill_null(False).alias("root"))
        .filter((pl.col("low") != pl.col("high")) | pl.col("root"))
        .select("group", "slot", "root")
        .join(_cut_batches(call_table), on=["group", "slot"], how="anti")
        .sort("group", "slot")
    )


def _cut_batches(call_table: CallTable) -> pl.DataFrame:
    """Collectives of which some member's ring has lost a part."""
    return (
        call_table.calls.filter(pl.col("cut") & pl.col("slot").is_not_null()).select("group", "slot").unique()
    )
