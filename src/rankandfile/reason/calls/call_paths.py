"""Which path a call came by: all frames of the program that led to it, and not the innermost alone.

A helper that everything goes through makes all calls from one line; who called it is further out. Frames of torch and
of the interpreter are left out: they follow from the program's, but for a member that is root or coordinator, which
goes another way in them and makes the same call.

In: the stacks of a case and its calls. Out: the calls with a number for each distinct path, worked out once per
distinct stack; without a stack the call site stands for it, and null where not even that was recorded.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case

_SITE_ALONE = 1 << 31
"""Numbers from here on are call sites without a stack."""


def with_paths(case: Case, calls: pl.DataFrame) -> pl.DataFrame:
    """The calls with the column `path`."""
    own = set(case.frames.filter(~pl.col("is_torch"))["frame"].to_list())
    numbers: dict[tuple[int, ...], int] = {}
    column = []
    for frames in case.stacks["frames"].to_list():
        path = tuple(frame for frame in frames if frame in own)
        column.append(numbers.setdefault(path or tuple(frames), len(numbers)))
    paths = case.stacks.select("stack", pl.Series("path", column, pl.UInt32))
    site_alone = (pl.col("site") + _SITE_ALONE).cast(pl.UInt32)
    return calls.join(paths, on="stack", how="left", maintain_order="left").with_columns(
        pl.coalesce("path", site_alone).alias("path")
    )
