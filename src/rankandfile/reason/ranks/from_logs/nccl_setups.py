"""NCCL's setups of communicators, by its lines: who began each, and who completed it."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
from msgspec import Struct, field

from rankandfile.model.case import Case
from rankandfile.model.events import event_id

from .accounts import fields_of


class Setup(Struct):
    size: int = 0
    begun: dict[int, str] = field(default_factory=dict)
    completed: set[int] = field(default_factory=set)

    @property
    def missing(self) -> list[int]:
        return sorted(set(range(self.size)) - self.begun.keys())


def setups(case: Case) -> dict[str, Setup]:
    """By communicator; one that says no id is that of its size."""
    kind = pl.col("kind").cast(pl.String)
    rows = case.events.filter(kind == "nccl_init").sort("log", "line")
    # Older releases say only that the rings stand: then what was begun above that line is set up.
    connected = dict(
        case.events.filter(kind == "nccl_connected").group_by("log").agg(pl.col("line").max()).iter_rows()
    )
    out: dict[str, Setup] = defaultdict(Setup)
    for row in rows.iter_rows(named=True):
        fields = fields_of(row)
        number, size, phase = row["group_rank"], fields.get("nranks"), str(fields.get("phase", ""))
        if number is None or not isinstance(size, int):
            continue
        one = out[str(fields.get("comm_id") or f"of {size} ranks")]
        one.size = max(one.size, size)
        if "START" in phase:
            one.begun.setdefault(number, event_id(row["log"], row["line"]))
            if row["line"] < connected.get(row["log"], 0):
                one.completed.add(number)
        elif "COMPLETE" in phase:
            one.completed.add(number)
    return out
