"""On which ranks a line of the program was seen: in their stacks, or in the frames that calls were made from."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case


def seen_at(case: Case, file: str, line: int | None) -> pl.DataFrame:
    """The snapshots with this line in them."""
    return case.snapshots.filter(pl.col("stack").is_in(_stacks(case, file, line).implode()))


def called_from(case: Case, file: str, line: int | None) -> set[int]:
    """Ranks with a recorded call that was made from below this line."""
    stacks = _stacks(case, file, line)
    return (
        set(case.calls.filter(pl.col("stack").is_in(stacks.implode()))["rank"].to_list())
        if stacks.len()
        else set()
    )


def _stacks(case: Case, file: str, line: int | None) -> pl.Series:
    # A stack with frames in C names a file without its folders, where another has all of them.
    whole = pl.col("file").cast(pl.String)
    same = (whole == file) | whole.str.ends_with(f"/{file}") | pl.lit(file).str.ends_with(pl.lit("/") + whole)
    frames = case.frames.filter((pl.col("line") == line) & same)["frame"]
    has = pl.col("frames").list.eval(pl.element().is_in(frames.implode())).list.any()
    return case.stacks.filter(has)["stack"]
