"""Which thread of a process tells what the process was doing."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case

#: One row per snapshot of a process.
_SNAPSHOT = ["file", "rank", "host", "pid", "ordinal"]
_IN_CALL = "distributed_c10d.py"
_BACKWARD = "_engine_run_backward"
_NO_BACKWARD = pl.Series("stack", [], dtype=pl.UInt32)


def telling(snapshots: pl.DataFrame, stacks: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The rows of `snapshots` that matter, one per process and moment, of those taken while it hung or died.

    That is the program's own thread (in a data-loading process, its worker's); and a thread of the autograd
    engine instead, if the own thread waits in a backward pass and the other one runs Python for it. Threads that
    serve or watch never matter, nor does where an exception came from or a call was issued.
    """
    rows = snapshots.filter(
        pl.col("shows").is_in(["now", "died"])
        & pl.col("role").is_in(["main", "worker", "autograd"])
        & pl.col("stack").is_not_null()
    )
    if not rows.height:
        return rows
    backward = pl.col("stack").is_in(_in_backward(stacks, frames).implode())
    waits = ((pl.col("role") == "main") & backward).any().over(_SNAPSHOT)
    # The autograd thread first where the main thread waits for it, else never.
    order = pl.when(pl.col("role") != "autograd").then(1).when(waits).then(0).otherwise(2)
    return (
        rows.with_columns(order.alias("_order"))
        .filter(pl.col("_order") < 2)
        .sort(["file", "ordinal", "_order", "line"])
        .unique(_SNAPSHOT, keep="first", maintain_order=True)
        .drop("_order")
    )


def last_of_each_rank(rows: pl.DataFrame) -> pl.DataFrame:
    """Of `telling` rows, the latest of each rank's own process."""
    mine = rows.filter((pl.col("role") != "worker") & pl.col("rank").is_not_null())
    return mine.sort("rank", "ordinal", "file").unique("rank", keep="last", maintain_order=True)


def threads_in_calls(case: Case) -> dict[int, int]:
    """Rank -> how many threads of its process stood in a function of torch.distributed when someone looked once."""
    inside = case.frames.filter(pl.col("file").str.ends_with(_IN_CALL))["frame"].implode()
    there = case.stacks.filter(pl.col("frames").list.first().is_in(inside))["stack"].implode()
    shown = case.snapshots.filter(
        (pl.col("shows") == "now") & pl.col("rank").is_not_null() & pl.col("stack").is_in(there)
    )
    looks = shown.group_by("rank", "file", "pid", "ordinal").len()
    return dict(looks.group_by("rank").agg(pl.col("len").max()).iter_rows())


def _in_backward(stacks: pl.DataFrame, frames: pl.DataFrame) -> pl.Series:
    """Stacks whose innermost Python frame is the engine's."""
    engine = frames.filter(pl.col("function") == _BACKWARD)["frame"]
    if not engine.len():
        return _NO_BACKWARD
    native = frames.filter(pl.col("file").str.contains(r"\.so[.\d]*$|\.(?:c|cc|cpp|cu|h|hpp)$|^\?*$"))[
        "frame"
    ]
    return (
        stacks.select("stack", pl.col("frames"))
        .explode("frames")
        .drop_nulls()
        .filter(~pl.col("frames").is_in(native.implode()))
        .group_by("stack", maintain_order=True)
        .first()
        .filter(pl.col("frames").is_in(engine.implode()))["stack"]
    )
