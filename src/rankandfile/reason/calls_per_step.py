"""How many calls a step of the job makes, measured in what its recorder kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from rankandfile.model.case import Case
from rankandfile.reason.calls.rounds import find_loop

_MOST = 8192
"""Calls at the end of a rank's record that are looked at."""


class Measured(NamedTuple):
    rank: int
    calls: int


def calls_per_step(case: Case) -> Measured | None:
    """The period with which the busiest rank repeats itself; None where its record shows no repetition."""
    if case.calls.is_empty():
        return None
    busiest = case.calls.group_by("rank").len().sort(["len", "rank"], descending=[True, False])
    rank = int(busiest["rank"][0])
    mine = case.calls.filter(pl.col("rank") == rank).sort("record").tail(_MOST)
    kinds = mine.select(pl.struct("group", "op", "site").rank("dense").cast(pl.UInt64)).to_series().to_numpy()
    # The last calls are those of the hang: a rank that left the loop hides it, so the end is given up bit by bit.
    for kept in (1.0, 0.95, 0.8):
        loop = find_loop(kinds[: int(len(kinds) * kept)].astype(np.uint64))
        if loop is not None:
            return Measured(rank, loop.period)
    return None
