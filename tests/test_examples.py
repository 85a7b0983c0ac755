"""The incidents that ship with the repository are diagnosed as what they were."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.places import EXAMPLES
from support.selected import in_lab

from rankandfile.lab import truth as truths

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["early-stop", "tp-dp-cascade"])
@pytest.mark.parametrize("days", in_lab([0, 30, 400], (400,)))
def test_the_examples_name_the_true_culprit(name: str, days: int, tmp_path: Path) -> None:
    """Whenever they are checked out: the files of a checkout bear its time, and not that of the dumps."""
    evidence = tmp_path / "evidence"
    shutil.copytree(EXAMPLES / name / "evidence", evidence)
    now = time.time() + days * 86_400
    for file in evidence.rglob("*"):
        os.utime(file, (now, now))
    command = [sys.executable, "-m", "rankandfile", "diagnose", str(evidence), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    verdicts = json.loads(done.stdout)["verdicts"]
    truth = truths.read(EXAMPLES / name)
    assert len(verdicts) == 1
    assert [culprit["rank"] for culprit in verdicts[0]["culprits"]] == truth.culprits
    assert verdicts[0]["divergence"]["seq"] == truth.divergence.seq
