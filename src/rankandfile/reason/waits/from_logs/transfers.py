"""Sends and receives that watchdogs gave up on: who waits in one is not silent, and waits for others of its group."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.events import event_id
from rankandfile.reason.ranks.accounts import Report

_KINDS = ("watchdog_progress", "watchdog_timeout")
_OPS = ("SEND", "RECV", "COALESCED")


def transfers(case: Case) -> list[Report]:
    """The first that each rank's watchdog gave up on. Their numbers are of another counter: `enqueued` is left out."""
    rows = case.events.filter(
        pl.col("kind").cast(pl.String).is_in(_KINDS)
        & pl.col("op").cast(pl.String).is_in(_OPS)
        & (pl.col("role") != "echo")
        & pl.col("rank").is_not_null()
        & pl.col("group_name").is_not_null()
        & pl.col("seq").is_not_null()
    )
    found: dict[int, Report] = {}
    for row in rows.sort("log", "line").iter_rows(named=True):
        found.setdefault(
            row["rank"],
            Report(
                row["rank"], row["group_name"], row["group_desc"] or "", row["group_rank"], row["seq"], row["op"],
                None, None, None, None, row["timeout_ms"], event_id(row["log"], row["line"]),
            ),
        )  # fmt: skip
    return list(found.values())


def gave_up(case: Case) -> set[int]:
    """Ranks whose watchdogs gave up on anything."""
    kinds = pl.col("kind").cast(pl.String).is_in(_KINDS)
    return set(case.events.filter(kinds & (pl.col("role") != "echo"))["rank"].drop_nulls().to_list())
