"""Who aborted: what a process says as it ends itself has no rank in it, and is told by who ended so."""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace

from .accounts import OWN, End


def own_aborts(ends: dict[int, End], events: pl.DataFrame, lost_a_peer: frozenset[int]) -> dict[int, End]:
    """With the one process that aborted first: others raised since they had lost it, or its program's own thread did
    it, and no watchdog's. And nothing that it wrote, or that nobody is known to have written, tells that it had waited
    for anybody."""
    waited = events.filter(pl.col("role").is_in(["echo", "messenger"]))
    unowned = waited.filter(pl.col("rank").is_null() & (pl.col("role") == "messenger")).height
    aborted = _aborted(ends)
    if len(aborted) != 1 or unowned or not (lost_a_peer or _by_its_program(events, aborted[0])):
        return ends
    if aborted[0] in {*lost_a_peer, *waited["rank"].unique().to_list()}:
        return ends
    return {**ends, aborted[0]: replace(ends[aborted[0]], kind="killed", how=OWN)}


def _by_its_program(events: pl.DataFrame, rank: int) -> bool:
    """Python says which of its threads aborted, where it was one: a watchdog is none of them."""
    stacks = events.filter((pl.col("kind") == "thread_stack") & (pl.col("rank") == rank))
    return bool(stacks["text"].str.starts_with("Current thread").any())


def _aborted(ends: dict[int, End]) -> list[int]:
    return [rank for rank, end in ends.items() if end.aborted]


def of_the_aborted(events: pl.DataFrame, ends: dict[int, End]) -> pl.DataFrame:
    """What a process says as it aborts has no prefix of its rank: it is of the one that did."""
    aborted = _aborted(ends)
    who = pl.lit(aborted[0] if len(aborted) == 1 else None, dtype=events.schema["rank"])
    return events.with_columns(pl.coalesce("rank", who).alias("rank")).filter(pl.col("rank").is_not_null())
