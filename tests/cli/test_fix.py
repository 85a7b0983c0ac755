"""`raf fix`: a diff that git takes, words that explain it, and a source tree that is only changed when asked."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP

pytestmark = pytest.mark.slow


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the source that hung, the evidence beside it; the working directory."""
    folder = tmp_path / "job"
    shutil.copytree(EARLY_STOP / "src", folder)
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return folder


def test_the_diff_goes_through_a_pipe_into_git(raf: Raf, job: Path) -> None:
    done = raf("fix", EARLY_STOP / "evidence", "--src", ".")
    assert done.status == 1
    assert done.out.startswith("--- a/trainer.py\n+++ b/trainer.py\n")
    assert "\x1b" not in done.out and "why" in done.err and "decide" in done.err
    before = (job / "trainer.py").read_text()
    subprocess.run(["git", "apply"], input=done.out.encode(), check=True)
    after = (job / "trainer.py").read_text()
    assert after != before and "guard.agree(self.out_of_patience()" in after
    compile(after, "trainer.py", "exec")


def test_the_diff_goes_into_a_file(raf: Raf, job: Path) -> None:
    printed = raf("fix", EARLY_STOP / "evidence", "--src", ".").out
    done = raf("fix", EARLY_STOP / "evidence", "--src", ".", "-o", "hang.patch")
    assert (done.status, done.out) == (1, "") and done.err.splitlines()[-1].split() == [
        "written",
        "hang.patch",
    ]
    assert (job / "hang.patch").read_text() == printed


def test_nothing_is_changed_unless_asked(raf: Raf, job: Path) -> None:
    before = {path: path.read_bytes() for path in job.rglob("*.py")}
    raf("fix", EARLY_STOP / "evidence", "--src", job)
    raf("fix", EARLY_STOP / "evidence", "--src", job, "--probe")
    assert {path: path.read_bytes() for path in job.rglob("*.py")} == before


def test_apply_writes_it_and_keeps_the_mode(raf: Raf, job: Path) -> None:
    (job / "trainer.py").chmod(0o750)
    done = raf("fix", EARLY_STOP / "evidence", "--src", job, "--plain", "--apply")
    assert done.status == 1 and not done.out and "written" in done.err
    text = (job / "trainer.py").read_text()
    assert "if any_rank(self.out_of_patience()):" in text and "rankandfile" not in text
    assert (job / "trainer.py").stat().st_mode & 0o777 == 0o750
    assert not list(job.glob(".trainer*"))


def test_a_source_that_is_not_what_ran_is_not_changed(raf: Raf, job: Path) -> None:
    path = job / "trainer.py"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(["# a long comment\n"] * 12 + lines))
    before = path.read_bytes()
    done = raf("fix", EARLY_STOP / "evidence", "--src", job, "--apply")
    assert done.status in (2, 3) and path.read_bytes() == before


def test_a_probe_checks_the_decision(raf: Raf, job: Path) -> None:
    done = raf("fix", EARLY_STOP / "evidence", "--src", job, "--probe")
    assert "guard.same(" in done.out and "out_of_patience() (trainer.py:40)" in done.out
    second = raf("fix", EARLY_STOP / "evidence", "--src", job, "--probe", "--remedy", "2")
    assert second.status == 1 and second.out != done.out
    assert raf("fix", EARLY_STOP / "evidence", "--src", job, "--probe", "--remedy", "9").status == 2


def test_a_healthy_job_needs_nothing(raf: Raf, job: Path, healthy: Path) -> None:
    done = raf("fix", healthy, "--src", job)
    assert done.status in (0, 3) and not done.out


ABORTED = """\
[rank1]: Traceback (most recent call last):
[rank1]:   File "/w/data/pack.py", line 31, in pack
[rank1]:     raise IndexError(i)
[rank1]: IndexError: 4096
"""


@pytest.mark.parametrize("ended", ["", "srun: error: n1: task 1: Exited with exit code 1\n"])
def test_of_a_job_that_was_broken_off_it_is_not_said_that_it_had_no_hang(
    raf: Raf, job: Path, tmp_path: Path, ended: str
) -> None:
    log = tmp_path / "logs" / "job.log"
    log.parent.mkdir()
    log.write_text("[rank0]: step 1 loss 2.0\n[rank1]: step 1 loss 2.0\n" + ABORTED + ended)
    done = raf("fix", log, "--src", job)
    assert done.status == 3 and not done.out
    assert "IndexError" in done.err and "no hang found" not in done.err


def test_the_diagnosis_brings_the_patch_and_the_probes(raf: Raf, job: Path) -> None:
    done = raf("diagnose", EARLY_STOP / "evidence", "--src", job, "--format", "json")
    (verdict,) = json.loads(done.out)["verdicts"]
    assert "guard.agree" in verdict["remedies"][0]["diff"]
    assert "guard.same" in verdict["probes"][0]["diff"] and len(verdict["probes"]) >= 3


def test_help_has_examples(raf: Raf) -> None:
    assert "git apply" in raf("fix", "--help").out
    assert "--probes" in raf("lab", "prove", "--help").out
