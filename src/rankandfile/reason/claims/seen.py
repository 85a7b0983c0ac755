"""On which ranks a line of the program was seen: in their stacks, or in the frames that calls were made from."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case
from rankandfile.reason.calls.contracts import contract_of


def seen_at(case: Case, file: str, line: int | None) -> pl.DataFrame:
    """The snapshots with this line in them."""
    return case.snapshots.filter(pl.col("stack").is_in(_stacks(case, file, line).implode()))


def stacks_with(case: Case, file: str, line: int | None) -> set[int]:
    """The stacks with this line in them."""
    return set(_stacks(case, file, line).to_list())


def called_in(case: Case, stack: int) -> set[str]:
    """The operations that torch's functions in it are called after."""
    frames = case.stacks.filter(pl.col("stack") == stack)["frames"].explode()
    functions = case.frames.filter(pl.col("is_torch") & pl.col("frame").is_in(frames.implode()))["function"]
    return {contract_of(name).op for name in functions.drop_nulls().cast(pl.String).to_list()}


def last_seen(case: Case) -> dict[int, int]:
    """Rank -> the stack of its main thread when someone looked last."""
    shown = case.looks.filter((pl.col("shows") == "now") & (pl.col("role") == "main"))
    return dict(shown.sort("ordinal").select("rank", "stack").drop_nulls().iter_rows())


def came_by(case: Case, file: str, line: int | None) -> set[int]:
    """Ranks with this line in a snapshot, or with a recorded call that was made from below it."""
    stacks = _stacks(case, file, line)
    if not stacks.len():
        return set()
    rows = (table.filter(pl.col("stack").is_in(stacks.implode())) for table in (case.snapshots, case.calls))
    return {rank for found in rows for rank in found["rank"].unique().to_list()}


def _stacks(case: Case, file: str, line: int | None) -> pl.Series:
    # A stack with frames in C names a file without its folders, where another has all of them.
    whole = pl.col("file").cast(pl.String)
    same = (whole == file) | whole.str.ends_with(f"/{file}") | pl.lit(file).str.ends_with(pl.lit("/") + whole)
    frames = case.frames.filter(pl.col("line") == line).filter(same)["frame"]
    each = case.stacks.select("stack", "frames").explode("frames")
    return each.filter(pl.col("frames").is_in(frames.implode()))["stack"].unique()
