"""`raf diagnose --src` and `raf show source`, as a person runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP

from rankandfile.lab.sim.run import simulate

pytestmark = pytest.mark.slow


def test_the_diagnosis_names_the_condition_and_why_it_can_differ(raf: Raf) -> None:
    done = raf("diagnose", EARLY_STOP / "evidence", "--src", EARLY_STOP / "src", "--format", "json")
    assert done.status == 1, done.err
    verdict = json.loads(done.out)["verdicts"][0]
    location = verdict["location"]
    assert (location["file"], location["function"]) == ("trainer.py", "fit")
    assert location["condition"] == "if self.out_of_patience():"
    assert "if self.out_of_patience():" in verdict["sentence"]
    assert "never reduced" in verdict["sentence"] and "DataLoader" not in verdict["sentence"]
    assert "trainer.py:74" in location["why_it_can_differ"]
    assert location["why_it_can_differ"].count(";") <= 2
    assert "`self.bad_rounds` (trainer.py:77), and thereby on this rank's own data" in location["because"]
    text = (EARLY_STOP / "src" / "trainer.py").read_text().splitlines()
    assert "if self.out_of_patience():" in text[location["condition_line"] - 1]


def test_the_code_is_shown_with_both_ways_and_is_readable_without_colour(raf: Raf) -> None:
    done = raf("show", "source", EARLY_STOP / "evidence", "--src", EARLY_STOP / "src", "--no-unicode")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert "trainer.py in fit" in lines
    assert any(line.startswith("B  rank 2") for line in lines)
    assert any(
        line.startswith("AB") and "? " in line and "if self.out_of_patience():" in line for line in lines
    )
    assert any(line.startswith(" B") and line.rstrip().endswith("break") for line in lines)
    assert done.out.isascii()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--src", "nowhere"), "nowhere: no such file or directory"),
        (("--git", "HEAD"), "--git needs --src"),
        (("--src", EARLY_STOP / "evidence"), "no Python file"),
        (("--src", EARLY_STOP / "src", "--git", "no-such-revision"), "no commit 'no-such-revision'"),
    ],
)
def test_a_source_that_is_none_is_one_line(raf: Raf, words: tuple[str | Path, ...], says: str) -> None:
    done = raf("diagnose", EARLY_STOP / "evidence", *words)
    assert done.status == 2
    assert says in done.err and len(done.err.strip().splitlines()) <= 2
    assert "Traceback" not in done.err


def test_a_rank_is_explained_as_the_verdict_with_the_source_has_it(raf: Raf, tmp_path: Path) -> None:
    made = simulate("skip-nonfinite-ddp", tmp_path / "incident")
    evidence, tree = made / "evidence", made / "src"
    done = raf("diagnose", evidence, "--src", tree, "--format", "json")
    culprits = [culprit["rank"] for culprit in json.loads(done.out)["verdicts"][0]["culprits"]]
    assert culprits
    blamed = raf("diagnose", evidence, "--src", tree, "--explain", str(culprits[0]))
    assert blamed.out.startswith(f"Rank {culprits[0]} is blamed"), blamed.out
    other = next(rank for rank in range(4) if rank not in culprits)
    assert (
        f"Rank {other} is not blamed" in raf("diagnose", evidence, "--src", tree, "--explain", str(other)).out
    )


def test_the_ways_are_coloured_where_colour_is_wanted() -> None:
    words = ["show", "source", str(EARLY_STOP / "evidence"), "--src", str(EARLY_STOP / "src")]
    command = [sys.executable, "-m", "rankandfile", *words]
    env = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "FORCE_COLOR": "1", "TERM": "xterm"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env)
    lines = done.stdout.splitlines()
    [condition] = [line for line in lines if "if self.out_of_patience():" in line and "? " in line]
    # Both ways in their own colours, and the condition in bold.
    assert condition.startswith("\x1b[32mA\x1b[0m\x1b[1;31mB\x1b[0m")
    assert any(line.startswith(" \x1b[1;31mB\x1b[0m") for line in lines)


def test_without_a_source_it_says_how_to_name_one(raf: Raf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever code lies where somebody stands is not the job's."""
    monkeypatch.chdir(EARLY_STOP / "src")
    done = raf("show", "source", EARLY_STOP / "evidence")
    assert (done.status, done.out) == (2, "")
    assert done.err == "raf: no source of this job is here: name its folder with --src DIR\n"
