"""Matching: the calls of one group and slot are one collective, and must have promised the same."""

from __future__ import annotations

import polars as pl

from .working import COLLECTIVE, MEMBER, Working


def mismatched(working: Working) -> pl.DataFrame:
    """The collectives whose members promised different things, earliest first: group, slot, root."""
    calls = working.calls.filter((pl.col("kind") == COLLECTIVE) & pl.col("slot").is_not_null())
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
        .join(_cut_batches(working), on=["group", "slot"], how="anti")
        .sort("group", "slot")
    )


def _cut_batches(working: Working) -> pl.DataFrame:
    """Collectives in which some member's batch is the first thing that its ring kept: what it began with may be lost,
    and what is left of it compares with nothing."""
    whole = [i for i, t in enumerate(working.terms) if t.op.startswith("coalesced ")]
    firsts = (
        working.calls.filter(pl.col("kind").is_in([COLLECTIVE, MEMBER]))
        .group_by("rank", maintain_order=True)
        .first()
    )
    begins = firsts.filter((pl.col("record") > 0) & (pl.col("kind") == MEMBER)).select("rank")
    calls = working.calls.filter((pl.col("kind") == COLLECTIVE) & pl.col("slot").is_not_null())
    closing = calls.join(begins, on="rank", how="semi").group_by("rank", maintain_order=True).first()
    return closing.filter(pl.col("terms").is_in(whole)).select("group", "slot").unique()
