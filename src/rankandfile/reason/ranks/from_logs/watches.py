"""Others than torch's watchdogs that watch over a job, and say that somebody has waited for long.

An engine, a scheduler, a barrier, an inspector of stalls. A warning is over where the same log shows work behind it.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.events import event_id
from rankandfile.model.log_shapes import WARNINGS

from .accounts import Error, fields_of

_WORDS = {
    "sglang_watchdog": "SGLang's watchdog gave up on it",
    "vllm_no_block": "the engine of vLLM waited in vain for its workers",
    "jax_barrier": "JAX's barrier ran out of time",
    "horovod_stalled": "Horovod says that it is stalled",
    "hccl_notify": "HCCL ran out of time",
    "no_step": "its own watch says that no step ended",
    "xla_rendezvous": "XLA's rendezvous was not complete in time",
    "xla_leader_stuck": "XLA's rendezvous does not end",
}


def watched(events: pl.DataFrame) -> tuple[Error, ...]:
    """The waits that are not over, one of each kind."""
    past = over(events)
    rows = events.filter(pl.col("kind").is_in(list(_WORDS))).sort("log", "line")
    found: dict[str, Error] = {}
    for kind, log, line, repeats in rows.select("kind", "log", "line", "repeats").iter_rows():
        if (log, line) not in past:
            times = f", {repeats} times" if (repeats or 1) > 1 else ""
            found.setdefault(kind, Error(f"{_WORDS[kind]}{times}", (event_id(log, line),)))
    return tuple(found.values())


def over(events: pl.DataFrame) -> frozenset[tuple[int, int]]:
    """Warnings, by log and line, behind the last of which the same log shows work, or takes them back.

    Other lines of this kind end the process: what goes on behind them is another attempt.
    """
    later = events.filter(pl.col("kind").is_in(["progress", "work_goes_on", "xla_unstuck"]))
    last = dict(later.group_by("log").agg(pl.col("line").max()).iter_rows())
    found = set()
    for row in events.filter(pl.col("kind").is_in(list(WARNINGS))).iter_rows(named=True):
        again = fields_of(row).get("last_line") or row["line"]
        if row["log"] in last and again < last[row["log"]]:
            found.add((row["log"], row["line"]))
    return frozenset(found)
