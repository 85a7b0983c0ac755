"""Whether a rank works where it stands, by what was seen of its process from outside."""

from __future__ import annotations

import msgspec
import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.model.work import WORK, Work

from .from_logs.accounts import AtWork
from .host import Stand

#: Of the time between two looks: who only turns round to look again takes less.
_SHARE = 0.3
_MOVED = 1 << 18
#: In which the main thread sleeps, and something else of its process or host may work for it.
_FOR_OTHERS = ("data_loader", "lock", "queue", "thread", "subprocess", "sleep")
_FILES = ("file_io", "network_io", "checkpoint", "user_code", "sleep", "subprocess")
#: In these it may turn on the spot, waiting for its device.
_DEVICE = ("cuda_sync", "nccl_call", "backward", "teardown", "idle")


def read_work(exits: pl.DataFrame) -> dict[int, AtWork]:
    """Rank -> what was seen of it."""
    rows = exits.filter(pl.col("kind").cast(pl.String) == WORK).select("rank", "error", "evidence")
    return {
        rank: AtWork(msgspec.json.decode(told, type=Work), (evidence,))
        for rank, told, evidence in rows.iter_rows()
    }


@heuristic("at work", "a rank whose process gets on is late, and not stuck")
def works(stand: Stand, seen: AtWork | None) -> str | None:
    """What shows that it does, in words that stand behind where it is; None where nothing does."""
    if seen is None or stand.died or stand.waits == "ranks" or stand.activity in _DEVICE:
        return None
    work = seen.work
    enough = max(_SHARE * work.over_s, 0.5)
    if work.last:
        return f"its output went on from {work.first} to {work.last}"
    if work.main_s >= enough:
        return f"its main thread ran for {_of(work.main_s, work)}"
    if stand.activity in _FOR_OTHERS and work.below_s >= enough:
        return f"a process that it has started ran for {_of(work.below_s, work)}"
    if stand.activity in _FOR_OTHERS and stand.activity != "sleep" and work.threads_s >= enough:
        return f"another thread of it ran for {_of(work.threads_s, work)}"
    if work.bytes >= _MOVED and (stand.activity in _FILES or stand.within in _FILES):
        return f"it read or wrote {work.bytes / 1e6:.1f} MB in {work.over_s:.1f} s"
    return None


def _of(seconds: float, work: Work) -> str:
    return f"{seconds:.1f} s in {work.over_s:.1f} s"
