"""Whose the lines of a table of events are: its two columns for that."""

from __future__ import annotations

import polars as pl

_FROM = pl.Categorical()


def given(where: pl.Expr, rank: pl.Expr | str | None, how: str | None) -> tuple[pl.Expr, pl.Expr]:
    """The columns with this rank where that holds, and `how` it is known; elsewhere as they are."""
    known = pl.lit(how, _FROM)
    return (
        pl.when(where).then(rank).otherwise("rank").alias("rank"),
        pl.when(where).then(known).otherwise("rank_from").alias("rank_from"),
    )
