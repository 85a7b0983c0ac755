"""The exception that a rank was handling when it made its last call: nothing has printed it, but the ring."""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.column import Row
from rankandfile.model.snapshots import stack_id
from rankandfile.reason.ranks.activity import CodePlace

from .accounts import Error

#: How a rank learns that others failed, or are gone.
_ECHO = re.compile(r"(?:^|[/\\])torch[/\\]distributed[/\\]")


def in_flight(case: Case) -> dict[int, Error]:
    """By rank; without exceptions that came out of a collective."""
    rings = case.stack_files.filter(pl.col("format") == "ring").select("file")
    told = case.snapshots.filter((pl.col("shows") == "raised") & pl.col("rank").is_not_null())
    found: dict[int, Error] = {}
    for row in told.join(rings, on="file", how="semi").iter_rows(named=True):
        frames = _frames(case, row["stack"])
        if not frames or _ECHO.search(frames[0]["file"] or ""):
            continue
        own = next((frame for frame in frames if not frame["is_torch"]), frames[0])
        place = CodePlace(own["function"] or "", own["file"] or "", own["line"] or 0, bool(own["is_torch"]))
        found[row["rank"]] = Error(row["error"] or "", (stack_id(row["file"], row["line"]),), place=place)
    return found


def _frames(case: Case, stack: int | None) -> list[Row]:
    rows = case.stacks.filter(pl.col("stack") == stack)["frames"].to_list() if stack is not None else []
    numbers = rows[0] if rows else []
    known = case.frames.filter(pl.col("frame").is_in(numbers))
    by_number = {row["frame"]: row for row in known.iter_rows(named=True)}
    return [by_number[number] for number in numbers if number in by_number]
