"""What earlier rounds say of two ways: which one goes on as the calls before it did.

A call that was never made before proves nothing where others follow it: the first evaluation of a job is as new as a
call that only one rank makes. At the end of a track it is what comes behind the loop.

In: tracks that agree up to some slot. Out: which of them goes on as the past of them all predicts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.calls.rounds import always_followed, predict

from .alignment import Tokens, common_prefix
from .cohorts import Track


def in_order(made: pl.DataFrame, by: str) -> Tokens:
    """A rank's calls one after the other, each as a number for its group and what this column says of it."""
    keys = made.sort("record").select(
        pl.concat_str([pl.col("group"), pl.col(by)], separator=":").rank("dense")
    )
    tokens: Tokens = keys.to_series().cast(pl.UInt64).to_numpy()
    return tokens


def due(before: Tokens, count: int) -> Tokens:
    """What the past predicts. That a row of like calls goes on is no prediction where the rounds end such a row: a call
    that was made but once, as one of the second step alone is, hides them."""
    return predict(telling(before), count)


def telling(before: Tokens) -> Tokens:
    """Of the past, what the prediction rests on."""
    expected = predict(before, 1)
    if len(before) < 2 or not len(expected) or not before[-2] == before[-1] == expected[0]:
        return before
    calls, times = np.unique(before, return_counts=True)
    often = before[np.isin(before, calls[times > 1])]
    return often if len(predict(often, 1)) else before


@heuristic("the loop's past", "of paths that as many took, the one that does as earlier steps did is normal")
def by_history(paths: Sequence[Track]) -> int | None:
    """The one path, of those that as many ranks took, that goes on as its past predicts."""
    low = max(path.first for path in paths)
    rows = [path.from_slot(low).tokens for path in paths]
    shared = min(common_prefix(rows[0], row) for row in rows[1:])
    before = rows[0][:shared]
    expected = due(before, max(len(row) for row in rows) - shared + 1)
    if not len(expected):
        return None
    lengths = [min(len(row) - shared, len(expected)) for row in rows]
    agree = [common_prefix(row[shared:], expected) for row in rows]
    fits = [i for i, (count, length) in enumerate(zip(agree, lengths, strict=True)) if 0 < length == count]
    if len(fits) != 1:
        fits = [i for i, count in enumerate(agree) if count]
    if not always_followed(telling(before)):
        return None
    if len(fits) != 1 or any(_new(row[shared:], before) for i, row in enumerate(rows) if i != fits[0]):
        return None
    return fits[0]


def _new(calls: Tokens, before: Tokens) -> bool:
    """Whether the first of the calls was never made before, and others are made after it that were."""
    return len(calls) > 1 and not np.any(before == calls[0]) and bool(np.isin(calls[1:], before).any())


def usual(normal: Track, other: Track, slot: int) -> Track | None:
    """Which of the two made the call at the slot that followed the longest like stretch before; None where neither."""
    low = max(normal.first, other.first)
    at = slot - low
    one, two = normal.from_slot(low).tokens, other.from_slot(low).tokens
    expected = due(one[:at], 1)
    ways = [
        track
        for track, tokens in ((normal, one), (other, two))
        if len(expected) and len(tokens) > at and tokens[at] == expected[0]
    ]
    return ways[0] if len(ways) == 1 else None
