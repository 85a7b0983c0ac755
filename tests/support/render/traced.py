"""Simulated jobs for the tests of traces: the case, what is said of it, and its calls over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from msgspec import Struct

from rankandfile.evidence.load import load
from rankandfile.lab.sim.run import simulate
from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.reason import conclude, gather
from rankandfile.render.timeline import Timeline, timeline


class Made(Struct):
    case: Case
    diagnosis: Diagnosis
    slots: pl.DataFrame

    def timeline(self, **options: Any) -> Timeline:
        return timeline(self.case, self.diagnosis, self.slots, **options)


def made(scenario: str, folder: Path, ranks: int | None = None) -> Made:
    evidence = simulate(scenario, folder / scenario, ranks=ranks) / "evidence" / "dumps"
    spool = folder / f"{scenario}.spool"
    spool.mkdir()
    facts = gather(load([evidence], spool, jobs=1))
    return Made(facts.case, conclude(facts), facts.call_table.calls.select("dump", "record", "slot"))
