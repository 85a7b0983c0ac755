"""Ranks that made calls between two looks at them: each got on, though it was seen at one line both times.

Whoever waits over and over, as for the next data, is mostly seen waiting.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic

from .host import Stand


@heuristic(
    "called meanwhile",
    "who made a call between two looks got on, though it was seen at one line",
    otherwise=frozenset(),
)
def called_meanwhile(hosts: Mapping[int, Stand], calls: pl.DataFrame) -> frozenset[int]:
    looked = [
        {"rank": rank, "first": stand.last_ns - stand.apart_ns, "last": stand.last_ns}
        for rank, stand in hosts.items()
        if stand.moving is False and stand.last_ns is not None and stand.apart_ns
    ]
    if not looked:
        return frozenset()
    looks = pl.DataFrame(looked, schema_overrides={"rank": calls.schema["rank"]})
    at = pl.col("created_ns")
    made = calls.select("rank", at).join(looks, on="rank")
    return frozenset(made.filter((at > pl.col("first")) & (at < pl.col("last")))["rank"])


def with_motion(hosts: Mapping[int, Stand], ranks: frozenset[int]) -> dict[int, Stand]:
    return {rank: replace(stand, moving=True) if rank in ranks else stand for rank, stand in hosts.items()}
