"""Calls that a thread made which Python began: when they come between those of the program itself is chance."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case

_BEGINS = r"(?:^|[/\\])(?:threading|concurrent[/\\]futures[/\\]thread|multiprocessing[/\\]pool)\.py$"


def begun_by_python(case: Case) -> frozenset[int]:
    """The stacks whose outermost frame is where Python begins a thread."""
    begins = case.frames.filter(pl.col("file").cast(pl.String).str.contains(_BEGINS))["frame"]
    if not begins.len():
        return frozenset()
    outermost = pl.col("frames").list.last()
    return frozenset(case.stacks.filter(outermost.is_in(begins.implode()))["stack"].to_list())
