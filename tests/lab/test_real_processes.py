"""Nothing of a run outlives it, and a scenario that does not do what it says fails loudly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from rankandfile.lab import catalog
from rankandfile.lab.run import ScenarioError, run_scenario
from rankandfile.lab.scenario import Scenario

Incident = Callable[..., Path]
pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.torch]


def children_running_train() -> list[str]:
    """Command lines of training processes whose folder was made by this test process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
            where = str((folder / "cwd").readlink())
        except OSError:
            continue
        if b"train.py" in command and "/lab-processes/" in where:
            found.append(where)
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "lab-processes"


def test_a_fault_that_does_not_hang_is_an_error_and_leaves_no_process(
    incident: Incident, root: Path, tmp_path: Path
) -> None:
    harmless: Scenario = msgspec.structs.replace(catalog.get("save_on_main_only"), fault=(), fix=())
    with pytest.raises(ScenarioError, match="finished"):
        run_scenario(harmless, tmp_path / "out", place=root, attempts=1)
    assert not (tmp_path / "out").exists()
    assert not children_running_train()


def test_a_wrong_truth_is_an_error_and_the_stuck_ranks_are_gone(
    incident: Incident, root: Path, tmp_path: Path
) -> None:
    scenario = catalog.get("uneven_shards")
    swapped = tuple(
        msgspec.structs.replace(c, ranks=r)
        for c, r in zip(scenario.divergence.cohorts, [(2,), (0, 1, 3)], strict=True)
    )
    wrong = msgspec.structs.replace(
        scenario, divergence=msgspec.structs.replace(scenario.divergence, cohorts=swapped)
    )
    with pytest.raises(ScenarioError, match="never part as stated"):
        run_scenario(wrong, tmp_path / "out", place=root, attempts=1)
    assert not children_running_train()
