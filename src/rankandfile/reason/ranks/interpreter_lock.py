"""Who holds the interpreter's lock and does not let go: nothing that needs it, a dump or a stack, can be had then.

A program that computes in Python holds the lock too, and gives it away many times a second. Only native code keeps
it; and whoever does not answer a request that needs the lock may want for it.
"""

from __future__ import annotations

import polars as pl
from msgspec import Struct

from rankandfile.model.case import Case
from rankandfile.model.snapshots import stack_id

from .activity import CodePlace, is_native, short_function

_MOST = 64


class Held(Struct, frozen=True):
    function: str | None
    """Native code that holds the lock; None: nobody saw, and the rank did not answer."""
    evidence: tuple[str, ...]


def held(case: Case, ranks: list[int]) -> dict[int, Held]:
    """Of these ranks, those that hold the lock in native code, or that the debug server asked in vain."""
    silent = case.stack_files.filter(pl.col("unanswered").is_not_null())["unanswered"].explode().drop_nulls()
    out = {rank: Held(None, ()) for rank in set(silent.to_list()) & set(ranks)}
    owners = (
        case.snapshots.filter(
            pl.col("rank").is_in(ranks[:_MOST]) & pl.col("owns_gil") & pl.col("stack").is_not_null()
        )
        .filter(pl.col("shows") == "now")
        .join(case.stacks.select("stack", pl.col("frames").list.first().alias("frame")), on="stack")
        .join(
            case.frames.select("frame", "function", pl.col("file").alias("path"), pl.col("line").alias("at")),
            on="frame",
        )
        .sort("rank", "ordinal")
        .unique("rank", keep="last", maintain_order=True)
    )
    for row in owners.iter_rows(named=True):
        place = CodePlace(row["function"] or "", row["path"] or "", row["at"] or 0)
        if is_native(place):
            out[row["rank"]] = Held(short_function(place.function), (stack_id(row["file"], row["line"]),))
    return out
