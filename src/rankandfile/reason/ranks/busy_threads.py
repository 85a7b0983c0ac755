"""Another thread of its process that is at work whenever somebody looks, while the thread of the program waits.

Whoever waits for a queue, a lock or a thread may wait for what that one brings: it is late, and not stuck.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.model.snapshots import stack_id

from .activity import at, is_library, places_of, short_function

#: In which the program's thread waits, and another one of its process may work for it.
WAITS_FOR_THREADS = ("data_loader", "lock", "queue", "thread")
_THREAD = ["rank", "thread_name", "os_thread"]


class BusyThread(NamedTuple):
    words: str
    """`its thread feeder runs in encode, vocab.py:28`."""
    evidence: str


@heuristic(
    "busy threads",
    "a thread that is at work in other places whenever somebody looks gets on for its process",
    otherwise={},
)
def busy_threads(
    looks: pl.DataFrame, stacks: pl.DataFrame, frames: pl.DataFrame, ranks: Iterable[int]
) -> dict[int, BusyThread]:
    """Of these ranks: the first of its threads that ran in every look at it, and was seen in several places.

    One that only watches sleeps between two rounds, and one that serves is known by its frames.
    """
    mine = looks.filter(
        pl.col("rank").is_in(list(ranks))
        & (pl.col("shows") == "now")
        & (pl.col("role") == "other")
        & pl.col("active").is_not_null()
        & pl.col("os_thread").is_not_null()
        & pl.col("stack").is_not_null()
    )
    if not mine.height:
        return {}
    gets_on = pl.col("active").all().over(_THREAD) & (pl.col("stack").n_unique().over(_THREAD) > 1)
    last = (
        mine.filter(gets_on)
        .sort("rank", "ordinal", "file", "line")
        .unique(_THREAD, keep="last", maintain_order=True)
        .unique("rank", keep="first", maintain_order=True)
    )
    where = {
        number: next((place for place in places if not is_library(place)), places[0])
        for number, _, places in places_of(last["stack"].unique().sort(), stacks, frames)
        if places
    }
    return {
        rank: BusyThread(
            f"its thread {name or thread} runs in {short_function(where[stack].function)}, {at(where[stack])}",
            stack_id(file, line),
        )
        for rank, name, thread, stack, file, line in last.select(
            "rank", "thread_name", "os_thread", "stack", "file", "line"
        ).iter_rows()
        if stack in where
    }
