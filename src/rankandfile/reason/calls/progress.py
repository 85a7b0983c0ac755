"""Progress: per rank and group, how far the calls came; and what can be said of members that left no call.

A member has *joined* slot s if it enqueued a call there or later: numbers only grow. What a ring lost was earlier,
so it never hides that a member has joined; a file cut short lost what was later, so it never proves absence.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case

from .call_table import COLLECTIVE, CallTable

NEVER = -1
"""`last` of a member that has enqueued nothing on the group."""


def progress(call_table: CallTable) -> pl.DataFrame:
    """One row per rank and group that has collectives."""
    calls = call_table.calls.filter((pl.col("kind") == COLLECTIVE) & pl.col("slot").is_not_null())
    is_open = pl.col("open")
    return calls.group_by("rank", "group", maintain_order=True).agg(
        pl.col("slot").min().alias("first"),
        pl.col("slot").max().alias("last"),
        pl.col("slot").filter(is_open).min().alias("open_slot"),
        pl.col("record").filter(is_open).min().alias("open_record"),
        pl.col("state").filter(is_open).first().alias("open_state"),
        pl.col("slot").filter(pl.col("state") == 2).max().alias("completed"),
        pl.col("record").last().alias("last_record"),
        pl.col("dump").last(),
        pl.len().alias("calls"),
    )


def _by_state(call_table: CallTable, proved: bool) -> pl.Expr:
    pairs = [{"group": g, "rank": r} for (g, r), proves in call_table.by_state.items() if proves == proved]
    dtype = pl.Struct({"group": pl.UInt32, "rank": pl.Int32})
    return pl.struct("group", "rank").is_in(pl.Series(pairs, dtype=dtype).implode())


def standing(
    case: Case, call_table: CallTable, table: pl.DataFrame, members: dict[int, list[int]]
) -> pl.DataFrame:
    """One row per group and member: `known` says whether `last` can prove that the member has not joined."""
    pairs = pl.DataFrame(
        {
            "group": pl.Series([g for g, ranks in members.items() for _ in ranks], dtype=pl.UInt32),
            "rank": pl.Series([r for ranks in members.values() for r in ranks], dtype=pl.Int32),
        }
    )
    dumps = case.dumps_used.filter(pl.col("rank").is_not_null()).unique("rank", keep="first")
    dumps = dumps.select(
        "rank",
        pl.lit(True).alias("has_dump"),
        pl.col("wrapped").fill_null(False),
        pl.col("truncated").fill_null(False),
        pl.col("timing").fill_null(False),
        pl.col("dump").alias("of_dump"),
    )
    rows = pairs.join(table, on=["group", "rank"], how="left", maintain_order="left")
    rows = rows.join(dumps, on="rank", how="left", maintain_order="left")
    has_calls = pl.col("last").is_not_null()
    loose = pl.col("group").is_in(list(call_table.loose)) | _by_state(call_table, proved=False)
    return rows.with_columns(
        pl.col("last").fill_null(NEVER),
        pl.col("has_dump").fill_null(False),
        (
            pl.col("has_dump").fill_null(False)
            & ~pl.col("truncated").fill_null(False)
            & (has_calls | ~pl.col("wrapped").fill_null(False) | _by_state(call_table, proved=True))
            & ~loose
        ).alias("known"),
        pl.col("timing").fill_null(False),
        pl.col("dump").fill_null(pl.col("of_dump")),
    )
