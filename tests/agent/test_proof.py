"""`--prove`: a command of the person's passes with the fix and fails without it, in a copy, or it shows nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.agent.model_runs import command, investigated
from support.agent.model_server import Turn
from support.agent.needs import needs_models
from support.capture.waiting import until
from support.places import EARLY_STOP

from rankandfile.agent import trial
from rankandfile.agent.bench import Bench
from rankandfile.agent.diff import Misfit, changed
from rankandfile.cli.errors import UserError

pytestmark = [pytest.mark.slow, needs_models]

FIXED = "grep -q 'guard.agree(self.out_of_patience()' trainer.py"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A person's tree, with a link into itself by its whole path, and a pipe that nobody writes to."""
    tree = tmp_path / "theirs"
    shutil.copytree(EARLY_STOP / "src", tree)
    (tree / "latest.txt").write_text("before\n")
    (tree / "link.txt").symlink_to((tree / "latest.txt").resolve())
    os.mkfifo(tree / "pipe")
    return tree


def digest(tree: Path) -> str:
    parts = [
        f"{path.relative_to(tree)} {path.lstat().st_mtime_ns} {path.lstat().st_mode} "
        + (path.read_text() if path.is_file() else "")
        for path in sorted(tree.rglob("*"))
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def proved(tree: Path, out: Path, run: str, *more: str) -> tuple[int, dict[str, Any]]:
    arguments = [
        "investigate",
        str(EARLY_STOP / "evidence"),
        "--src",
        str(tree),
        "--jobs",
        "1",
        "-o",
        str(out),
    ]
    status, printed, _ = command([*arguments, "--format", "json", "--prove", run, *more])
    proof: dict[str, Any] = json.loads(printed)["proof"]
    return status, proof


def test_it_passes_with_the_fix_and_fails_without(tree: Path, tmp_path: Path) -> None:
    before = digest(tree)
    run = f"echo here: $PWD {{src}}; echo new > made.txt; echo changed > link.txt; echo x >> trainer.py; {FIXED}"
    status, proof = proved(tree, tmp_path / "out", run)
    assert status == 1 and proof["proved"], proof
    assert proof["with_it"]["status"] == 0 and proof["without_it"]["status"] == 1
    assert digest(tree) == before
    log = (tmp_path / "out" / "prove-with.log").read_text()
    copies = log.split()[1:3]
    assert copies[0] == copies[1] and str(tree) not in log
    # Nothing of the copies is left.
    assert not Path(copies[0]).exists()


@pytest.mark.parametrize(
    ("run", "says"),
    [("true", "without it too"), ("false", "with the change, it ended with status 1")],
)
def test_what_shows_nothing_proves_nothing(tree: Path, tmp_path: Path, run: str, says: str) -> None:
    _, proof = proved(tree, tmp_path / "out", run)
    assert proof["proved"] is False and says in proof["words"]


def test_what_does_not_end_is_ended_with_all_that_it_started(tree: Path, tmp_path: Path) -> None:
    """As a hang does without the fix, and as launchers do, whose workers have sessions of their own."""
    pid = tmp_path / "pid"
    run = f"{FIXED} && exit 0; setsid sh -c 'echo $$ > {pid}; exec sleep 300' & sleep 300"
    began = time.monotonic()
    _, proof = proved(tree, tmp_path / "out", run, "--prove-timeout", "2")
    assert proof["proved"] and proof["without_it"]["status"] is None
    assert "did not end in time" in proof["words"] and time.monotonic() - began < 250
    until(lambda: not Path(f"/proc/{pid.read_text().strip()}/exe").exists())


@pytest.mark.skipif(sys.platform != "linux", reason="only there somebody else can become a process's parent")
@pytest.mark.parametrize("status", ["exit 0", "sleep 300"])
def test_nothing_of_a_command_escapes_by_a_session_and_an_environment_of_its_own(
    tmp_path: Path, status: str
) -> None:
    pid = tmp_path / "pid"
    run = f"(setsid env -i sh -c 'trap \"\" TERM; echo $$ > {pid}; yes' &); until [ -s {pid} ]; do sleep 0.01; done"
    trial.tried(f"{run}; {status}", tmp_path, tmp_path, tmp_path / "log", 1.0)
    assert not Path(f"/proc/{pid.read_text().strip()}/exe").exists()


def test_what_fills_the_disk_is_ended_and_the_verdict_is_that_of_the_rules(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "MOST_TAKEN", 64 << 20)
    # It ends by itself too, in case that nobody ends it.
    run = "for i in $(seq 60); do head -c 8000000 /dev/zero > filler$i; yes full | head -c 1000000; sleep 0.02; done"
    status, proof = proved(tree, tmp_path / "out", run)
    assert status == 1 and proof["proved"] is False
    assert "filled the disk" in proof["words"] and proof["with_it"]["filled_disk"]
    assert "Rank 2 is in the barrier" in (tmp_path / "out" / "investigation.md").read_text()


def test_a_probe_holds_if_it_ends_the_run_and_says_why(tree: Path, tmp_path: Path) -> None:
    run = "grep -q 'guard' trainer.py && echo 'GuardError: here the ranks differ: rank 2 has True' && exit 3"
    _, proof = proved(tree, tmp_path / "out", run, "--prove-what", "probe")
    assert proof["proved"] and "here the ranks differ: rank 2" in proof["words"]
    _, proof = proved(tree, tmp_path / "out", "exit 3", "--prove-what", "probe")
    assert not proof["proved"] and "said nothing" in proof["words"]


def test_the_fix_of_a_model_is_tried_only_where_the_person_says_so(tree: Path, tmp_path: Path) -> None:
    fix = (
        "--- a/trainer.py\n+++ b/trainer.py\n@@ -40,1 +40,2 @@\n-            if self.out_of_patience():\n"
        "+            # decided by all\n+            if guard_all(self.out_of_patience()):\n"
    )
    incident = tmp_path / "incident"
    incident.mkdir()
    (incident / "evidence").symlink_to(EARLY_STOP / "evidence")
    shutil.copytree(tree, incident / "src", ignore=shutil.ignore_patterns("pipe"))

    def plays(_: dict[str, Any], number: int) -> Turn:
        return Turn(calls=[("conclude", {"fix": fix})])

    run = ["--prove", "grep -q 'guard_all(self' trainer.py"]
    done, _ = investigated(plays, "openai", tmp_path / "out", *run, incident=incident)
    assert done.model["fix"] == fix and done.answer["proof"]["proved"] is False
    assert "## The fix that the model proposes" in done.document
    done, _ = investigated(
        plays, "openai", tmp_path / "out", *run, "--prove-what", "model", incident=incident
    )
    assert done.answer["proof"]["proved"] is True and done.answer["proof"]["what"] == "model"


@pytest.mark.parametrize(
    ("more", "says"),
    [(["--prove-what", "model"], "no fix that fits"), (["--src", "elsewhere"], "one folder")],
)
def test_what_cannot_be_tried_is_said(tree: Path, tmp_path: Path, more: list[str], says: str) -> None:
    if more[1] == "elsewhere":
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "other.py").write_text("a = 1\n")
        more = ["--src", str(tmp_path / "elsewhere")]
    with pytest.raises(UserError, match=says):
        proved(tree, tmp_path / "out", "true", *more)


@pytest.mark.parametrize(
    ("diff", "says"),
    [
        ("hello", "no unified diff"),
        ("--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,1 @@\n-a\n+b\n", "no file x.py"),
        ("--- a/trainer.py\n+++ b/trainer.py\n@@ -9999,1 +9999,1 @@\n-a\n+b\n", "no line 9999"),
        ("--- a/trainer.py\n+++ b/trainer.py\n@@ -40,3 +40,1 @@\n-a\n", "fewer lines"),
        ("--- a/trainer.py\n+++ b/trainer.py\n@@ -40,1 +40,1 @@\n-a\n+b\n", "reads otherwise"),
    ],
)
def test_a_diff_fits_or_it_is_none(early_stop: Bench, diff: str, says: str) -> None:
    with pytest.raises(Misfit, match=says):
        changed(early_stop, diff)


def test_every_diff_of_the_rules_fits(early_stop: Bench) -> None:
    diffs = [
        one.diff
        for verdict in early_stop.diagnosis.verdicts
        for one in (*verdict.remedies, *verdict.probes)
        if one.diff
    ]
    assert len(diffs) >= 2
    for diff in diffs:
        (path,) = changed(early_stop, diff)
        assert path == "trainer.py"
