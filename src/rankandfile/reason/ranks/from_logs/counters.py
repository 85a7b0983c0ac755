"""Counters that logs show going up: steps of a training, rows of a table, a bar of progress. Who writes them moves."""

from __future__ import annotations

import polars as pl
from msgspec import Struct

from rankandfile.model.case import Case
from rankandfile.model.events import event_id
from rankandfile.reason.words import shortened

from .accounts import fields_of

_LONGEST = 100


class Counter(Struct, frozen=True):
    """One log's lines of one shape, of which the last is cited."""

    log: int
    line: int
    rank: int | None
    """Who wrote it, where the line or its file tells."""
    pod: str | None
    words: str
    evidence: str
    first: int
    last: int
    at_ns: int | None
    every_ms: int | None
    """How long one step takes."""

    def moved_until(self, time_ns: int | None) -> bool | None:
        """Whether its last step is no longer ago than a few steps take; None where times do not tell."""
        if self.at_ns is None or time_ns is None or not self.every_ms:
            return None
        since = time_ns - self.at_ns
        if min(self.at_ns, time_ns) < _DAY_NS:
            # One of them is a time of day.
            since %= _DAY_NS
        return since <= 3 * self.every_ms * 1_000_000 + _SPREAD_NS


_SPREAD_NS = 5_000_000_000
_DAY_NS = 86_400_000_000_000


def counters(case: Case) -> list[Counter]:
    """The latest of each log last."""
    rows = case.events.filter(pl.col("kind").cast(pl.String) == "progress").sort("log", "line")
    out: list[Counter] = []
    for row in rows.iter_rows(named=True):
        fields = fields_of(row)
        speaker = fields.get("speaker")
        out.append(
            Counter(
                log=row["log"],
                line=row["line"],
                rank=row["rank"]
                if row["rank"] is not None
                else speaker
                if isinstance(speaker, int)
                else None,
                pod=fields.get("pod"),
                words=shortened(str(row["text"] or ""), _LONGEST),
                evidence=event_id(row["log"], row["line"]),
                first=int(fields.get("from", 0)),
                last=int(fields.get("to", 0)),
                at_ns=row["time_ns"],
                every_ms=fields.get("every_ms"),
            )
        )
    return out
