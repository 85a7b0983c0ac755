"""Calls of a backward pass, with the frames that autograd gives them."""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace

from rankandfile.model.case import Case
from support.reason.witnesses import TORCH


def of_autograd(case: Case, site: str) -> Case:
    """The calls from that site, `a.py:21`, are of the `backward` of an autograd function."""
    backward = pl.col("line") == int(site.rpartition(":")[2])
    apply = case.frames.height
    own = case.frames.filter(backward)["frame"].implode()
    torch = pl.DataFrame(
        [{"frame": apply, "function": "apply", "file": f"{TORCH}/autograd/function.py", "line": 325, "is_torch": True}],
        schema=case.frames.schema,
    )  # fmt: skip
    frames = case.frames.with_columns(
        pl.when(backward).then(pl.lit("backward")).otherwise("function").alias("function")
    )
    stacks = case.stacks.with_columns(
        pl.when(pl.col("site").is_in(own))
        .then(pl.concat_list("frames", pl.lit(apply, pl.UInt32)))
        .otherwise("frames")
        .alias("frames")
    )
    return replace(case, frames=pl.concat([frames, torch]), stacks=stacks)
