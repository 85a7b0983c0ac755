"""`raf diagnose`, the main job: the verdict first, the trail on request, a question about one rank, and the status."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from raf_runs import Raf

from rankandfile.lab.sim.run import simulate


@pytest.fixture(scope="module")
def cascade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rank 3 stalls before a call of its TP group; 2 waits for 3; 0 and 1 wait for 2 and 3 through DP."""
    return simulate("peers-tp-dp-cascade", tmp_path_factory.mktemp("sim") / "case") / "evidence" / "dumps"


def test_the_verdict_is_first_and_fits_one_screen(raf: Raf, cascade: Path) -> None:
    lines = raf("diagnose", cascade).out.rstrip().splitlines()
    assert "rank 3" in lines[0].lower()
    assert len(lines) <= 40


def test_the_trail_has_each_step_with_its_numbers(raf: Raf, cascade: Path) -> None:
    plain, long = raf("diagnose", cascade), raf("diagnose", cascade, "-v")
    added = [
        line
        for line in (long.out + long.err).splitlines()
        if line not in (plain.out + plain.err).splitlines()
    ]
    assert len(added) >= 5
    assert sum(bool(re.search(r"\d", line)) for line in added) >= 5


def test_the_status_says_what_was_found(raf: Raf, cascade: Path, healthy: Path, tmp_path: Path) -> None:
    assert raf("diagnose", cascade).status == 1
    assert raf("diagnose", healthy).status == 0
    (tmp_path / "notes.txt").write_text("nothing of a job\n")
    assert raf("diagnose", tmp_path).status in (2, 3)


def test_a_victim_is_led_to_the_culprit_and_the_culprit_to_its_proof(raf: Raf, cascade: Path) -> None:
    victim, culprit = (raf("diagnose", cascade, "--explain", rank).out for rank in (0, 3))
    assert "rank 3" in victim.lower() and "wait" in victim
    assert "Rank 3 is blamed" in culprit and "never issued" in culprit
    assert "in no group of this job" in raf("diagnose", cascade, "--explain", 99).out


@pytest.mark.parametrize("view", ["cohorts", "waits", "divergence"])
def test_what_it_reasoned_on_can_be_looked_at(raf: Raf, cascade: Path, view: str) -> None:
    done = raf("show", view, cascade)
    assert done.status == 0
    assert "3" in done.out
