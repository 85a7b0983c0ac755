"""Ranks whose process a signal has stopped, where the others' run on."""

from __future__ import annotations

import polars as pl

from .accounts import End, Error


def suspended(exits: pl.DataFrame, ends: dict[int, End]) -> dict[int, Error]:
    """A job that is stopped as a whole, as by Ctrl-Z, hangs for no fault of any rank."""
    rows = exits.filter((pl.col("state").cast(pl.String) == "stopped") & pl.col("rank").is_not_null())
    found: dict[int, Error] = {}
    for row in rows.iter_rows(named=True):
        since = "" if row["time_ns"] is None else f", since {_of_day(row['time_ns'])} UTC or before"
        how = "" if row["pid"] is None else f" (kill -CONT {row['pid']} lets it go on)"
        found.setdefault(row["rank"], Error(f"stopped by a signal{since}{how}", (row["evidence"],)))
    living = {rank for rank, end in ends.items() if end.kind == "running"}
    return {} if living == found.keys() else {rank: found[rank] for rank in found.keys() & living}


def _of_day(time_ns: int) -> str:
    seconds = time_ns // 1_000_000_000 % 86_400
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
