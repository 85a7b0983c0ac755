"""The catalogue can be read, and every tree built, without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rankandfile.lab import catalog
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import build, diff, locate
from rankandfile.lab.truth import long_ranks, short_ranks
from rankandfile.model.causes import CAUSES

ALL = catalog.scenarios()


def test_listing_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from rankandfile.lab import catalog, run, variants; "
        "assert len(catalog.scenarios()) >= 60"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_that_needs_no_gpu_has_a_scenario(cause: str) -> None:
    """One that names no hang of the lab is new, and has none yet: pytest lists it."""
    if cause in ("no_hang", "undetermined", "gpu_stuck", "gpu_error", "link_error"):
        return
    if not any(s.cause == cause for s in ALL):
        if not CAUSES[cause].scenario:
            pytest.xfail(f"no hang of src/rankandfile/lab/scenarios ends in {cause} yet")
        raise AssertionError(f"no hang of src/rankandfile/lab/scenarios ends in {cause}")


@pytest.mark.parametrize("scenario", ALL, ids=lambda s: s.name)
def test_fault_and_fix_are_readable_code(scenario: Scenario, tmp_path: Path) -> None:
    build(scenario, tmp_path / "faulty", fixed=False)
    build(scenario, tmp_path / "fixed", fixed=True)
    if scenario.location:
        assert locate(scenario.location, tmp_path / "faulty", scenario.name).line > 0
    if (scenario.strikes or scenario.cuts) and not scenario.fault:
        assert not diff(tmp_path / "faulty", tmp_path / "fixed")
    else:
        assert diff(tmp_path / "faulty", tmp_path / "fixed")
    for cohort in scenario.divergence.cohorts:
        assert all(0 <= rank < scenario.world_size for rank in cohort.ranks)
        if cohort.at:
            locate(cohort.at, tmp_path / "faulty", scenario.name)
    assert all(0 <= rank < scenario.world_size for rank in scenario.culprits)
    assert scenario.fix_summary and scenario.cause in CAUSES


def test_what_cuts_links_says_what_it_needs() -> None:
    assert {s.name for s in ALL if s.cuts} == {s.name for s in ALL if s.needs} != set()
    assert not any(s.in_suite for s in ALL if s.needs)


def test_ranks_in_short() -> None:
    assert short_ranks([5, 0, 1, 2]) == "0-2,5"
    assert long_ranks("0-2,5") == [0, 1, 2, 5] and long_ranks("") == []


def test_data_beside_a_program_is_no_obstacle_to_its_diff(tmp_path: Path) -> None:
    for name, line in (("faulty", "1"), ("fixed", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(f"x = {line}\n")
        (tmp_path / name / "table.parquet").write_bytes(b"PAR1\xff\xfe\x00\x80PAR1")
    changed = diff(tmp_path / "faulty", tmp_path / "fixed")
    assert "+x = 2" in changed and "parquet" not in changed
