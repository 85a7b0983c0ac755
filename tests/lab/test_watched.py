"""What the black box alone knows of a hang: a scenario under `raf run`, by the command that makes them all."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rankandfile.cli.errors import UserError
from rankandfile.cli.program import application
from rankandfile.lab import catalog, truth
from rankandfile.lab.source_tree import build

pytestmark = pytest.mark.slow

NAME = "store_lock_before_init"


@pytest.mark.lab
@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_rank_that_never_comes_to_the_setup(tmp_path: Path) -> None:
    """It has no ring: its rank is in its environment, and its stack is elsewhere than those of the others."""
    scenario, incident = catalog.get(NAME), tmp_path / "real" / NAME
    incident.mkdir(parents=True)
    build(scenario, incident / "src", fixed=False)
    (incident / "calls.jsonl").write_text("")
    known = truth.Truth(
        name=NAME, title=scenario.title, program=scenario.program, world_size=3, hang=True, cause="init_stuck",
        family="start and end", culprits=[1], divergence=truth.DivergenceTruth(kind="none"),
    )  # fmt: skip
    truth.write(known, incident)
    into = tmp_path / "watched"
    done = CliRunner().invoke(
        application(), ["lab", "watch", str(incident.parent), str(into), "--stall", "1"]
    )
    assert done.exit_code == 0, done.output
    said = (into / NAME / "said.log").read_text()
    assert "held up the setup" in said and "prepare.py:17" in said
    assert "Ranks 0 and 2 set up the job's communication and wait for rank 1" in " ".join(said.split())
    assert len(list((into / NAME / "evidence" / "rings").glob("*.ring"))) == 2
    none = CliRunner().invoke(application(), ["lab", "watch", str(into), str(into), "--only", "none"])
    assert isinstance(none.exception, UserError)
