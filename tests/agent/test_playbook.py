"""`raf investigate`: as good as the diagnosis, every sentence cited, every citation true."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.places import EARLY_STOP
from support.selected import in_lab

from rankandfile.agent.bench import Bench
from rankandfile.agent.claims import check
from rankandfile.agent.playbook import investigate
from rankandfile.agent.prose import words_of

pytestmark = pytest.mark.slow

SCENARIOS = [
    "skip-nonfinite-3d",
    "wrapped-skip",
    "cycle-on-devices",
    "blocked-renamed-no-frames",
    "two-faults",
    "size-metrics",
    "gpu-error-xid79",
    "raised-logs-only",
    "peers-dump-lost",
    "healthy-ddp",
]


#: A line that the source has, two faults in one job, logs alone, no hang.
HERE = ("skip-nonfinite-3d", "two-faults", "raised-logs-only", "healthy-ddp")


@pytest.mark.parametrize("scenario", in_lab(SCENARIOS, HERE))
def test_it_says_what_the_diagnosis_says_and_all_of_it_checks_out(
    simulated: Callable[[str], Bench], scenario: str
) -> None:
    bench = simulated(scenario)
    found = investigate(bench)
    assert check(found.document, bench, found.journal.results) == []
    shown = words_of(found.document)
    for verdict in bench.diagnosis.verdicts[:3]:
        assert f"{verdict.cause} of " in shown
        for culprit in verdict.culprits[:1]:
            assert f"rank {culprit.rank}" in shown.lower() or f"ranks {culprit.rank}" in shown.lower()
        if verdict.location is not None and verdict.location.condition:
            assert verdict.location.condition in shown
            assert f"{verdict.location.file}:{verdict.location.line}" in shown
        for diff in [one.diff for one in verdict.remedies if one.diff]:
            assert diff.strip().splitlines()[-1] in found.document


def test_the_place_the_condition_why_and_the_fix_are_in_it(early_stop: Bench) -> None:
    document = investigate(early_stop).document
    shown = words_of(document)
    assert document.startswith("# Investigation: early exit\n")
    assert "The ranks went different ways at `trainer.py:40`, by `if self.out_of_patience():`." in shown
    assert "can differ between ranks" in shown
    assert '+            if guard.agree(self.out_of_patience(), how="any"):' in document
    assert "Do not raise the timeout" in shown


def test_the_command_writes_both_files_and_the_steps_have_the_digests_of_their_answers(
    tmp_path: Path, early_stop: Bench
) -> None:
    command = [sys.executable, "-m", "rankandfile", "investigate", str(EARLY_STOP / "evidence")]
    command += ["--src", str(EARLY_STOP / "src"), "-o", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, done.stderr
    assert "HANG: rank 2 left early" in done.stdout and "investigation.md" in done.stderr
    assert "if self.out_of_patience():" in (tmp_path / "out" / "investigation.md").read_text()
    lines = (tmp_path / "out" / "investigation.jsonl").read_text().splitlines()
    steps = [json.loads(line) for line in lines]
    here = investigate(early_stop).journal
    assert [step["tool"] for step in steps] == [step.tool for step in here.steps]
    assert [step["step"] for step in steps] == [f"T{number}" for number in range(1, len(steps) + 1)]
    for step in here.steps:
        digest = hashlib.sha256(here.results[step.step].text.encode()).hexdigest()
        assert step.digest == f"sha256:{digest}"


def test_it_is_the_same_every_time(early_stop: Bench) -> None:
    assert investigate(early_stop).document == investigate(early_stop).document
