"""Cohorts: ranks of one group that made the same calls. A big job has a handful, and people think in handfuls."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Struct

from rankandfile.reason.calls.call_table import CallTable

from .alignment import Tokens
from .row_weights import row_weights


class Track(Struct, frozen=True):
    """The kept calls of a cohort on one group, one per slot, from `first` on."""

    ranks: tuple[int, ...]
    first: int
    tokens: Tokens
    """Promise and path; 0 where nothing was recorded for the slot."""
    terms: npt.NDArray[np.int64]
    """Promise alone; -1 where nothing was recorded."""

    @property
    def end(self) -> int:
        """The slot after the last call."""
        return self.first + len(self.tokens)

    @property
    def paths(self) -> Tokens:
        return np.asarray(self.tokens & np.uint64(0xFFFFFFFF), np.uint64)

    def from_slot(self, slot: int) -> Track:
        skip = max(0, slot - self.first)
        return Track(self.ranks, self.first + skip, self.tokens[skip:], self.terms[skip:])


def tracks(call_table: CallTable, group: int) -> list[Track]:
    """The cohorts of the group, by what all of them kept, largest first."""
    calls = call_table.of_group(group).filter(~pl.col("cut"))
    if not calls.height:
        return []
    spans = calls.group_by("rank").agg(
        pl.col("slot").min().alias("first"), pl.col("slot").max().alias("last")
    )
    # A ring keeps a rank's last calls: only what every rank still has can be compared.
    low = int(spans["first"].max())  # type: ignore[arg-type]
    high = int(spans["last"].max())  # type: ignore[arg-type]
    ranks = np.sort(spans["rank"].to_numpy())
    calls = calls.filter(pl.col("slot") >= low)
    row = np.searchsorted(ranks, calls["rank"].to_numpy())
    column = calls["slot"].to_numpy() - low
    shape = (len(ranks), max(0, high - low + 1))
    tokens = np.zeros(shape, np.uint64)
    terms = np.full(shape, -1, np.int64)
    tokens[row, column] = calls["token"].to_numpy()
    terms[row, column] = calls["terms"].to_numpy()
    ends = np.zeros(len(ranks), np.int64)
    np.maximum.at(ends, row, column + 1)
    with np.errstate(over="ignore"):
        digest = ((tokens + np.uint64(1)) * row_weights(shape[1])).sum(axis=1, dtype=np.uint64)
    by_digest: dict[tuple[int, int], list[int]] = {}
    for i, key in enumerate(zip(digest.tolist(), ends.tolist(), strict=True)):
        by_digest.setdefault(key, []).append(i)
    cohorts = [
        Track(tuple(int(ranks[i]) for i in rows), low, tokens[rows[0], : key[1]], terms[rows[0], : key[1]])
        for key, rows in by_digest.items()
    ]
    return sorted(cohorts, key=lambda t: (-len(t.ranks), t.ranks))
