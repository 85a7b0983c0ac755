"""Rings that have lost the transfer that somebody left out: what is left looks like an inversion of orders."""

from __future__ import annotations

from pathlib import Path

from rankandfile.evidence.load import load
from rankandfile.lab import variants
from rankandfile.lab.sim.run import simulate
from rankandfile.reason import diagnose


def test_nobody_is_blamed_for_a_circle_whose_beginning_is_lost(tmp_path: Path) -> None:
    incident = simulate("skip-ring-shift", tmp_path / "skip-ring-shift")
    variants.make(incident, "wrapped_ring", tmp_path / "wrapped")
    case = load([tmp_path / "wrapped" / "evidence"], tmp_path / "spool", jobs=1)
    blamed = {culprit.rank for verdict in diagnose(case).verdicts for culprit in verdict.culprits}
    assert blamed <= {2}
