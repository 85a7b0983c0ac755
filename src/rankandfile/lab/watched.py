"""A scenario under `raf run` with nothing else configured: the same hang, and only what the black box has of it."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from rankandfile.lab import catalog, truth
from rankandfile.lab.ranks import Ranks
from rankandfile.lab.run import lacking
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import ScenarioError, build

#: From the end of the last rank to the verdict.
AT_END_S = 30.0
_ANSWERED = (b"case: ", b"no verdict")


def run_watched(incident: Path, out_dir: Path, *, stall: float | None = None) -> Path:
    """Make the hang of an incident again, under `raf run`; `out_dir` becomes that incident with the case's evidence.

    What is true of it comes from the incident: the recorder and the lab's own call log cannot run together. Raises
    `ScenarioError` where the machine lacks something, the job does not hang, or `raf run` gives no answer.
    """
    scenario = catalog.get(truth.read(incident).name)
    if reason := lacking(scenario):
        raise ScenarioError(f"{scenario.name}: {reason}")
    with tempfile.TemporaryDirectory(prefix="job-") as folder:
        job = Path(folder).resolve()
        _run(scenario, job, stall)
        if out_dir.exists():
            shutil.rmtree(out_dir)
        out_dir.mkdir(parents=True)
        shutil.move(job / "case" / "evidence", out_dir / "evidence")
        shutil.copyfile(job / "control" / "launcher.log", out_dir / "said.log")
        shutil.copyfile(incident / truth.FILE, out_dir / truth.FILE)
        shutil.copyfile(incident / "calls.jsonl", out_dir / "calls.jsonl")
        shutil.copytree(incident / "src", out_dir / "src")
    return out_dir


def _run(scenario: Scenario, job: Path, stall: float | None) -> None:
    control, src = job / "control", job / "src"
    control.mkdir()
    build(scenario, src, fixed=False)
    command = [sys.executable, "-m", "rankandfile", "run", "--out", str(job / "case")]
    command += ["--stall", str(stall)] if stall is not None else []
    with Ranks(scenario, src, control, twin=False, under=[*command, "--"]) as ranks:
        ranks.watch(until=lambda _: _has_answered(control))
        end = time.monotonic() + AT_END_S
        while not _has_answered(control):
            if time.monotonic() > end:
                said = (control / "launcher.log").read_text(errors="replace")[-2000:]
                raise ScenarioError(f"{scenario.name}: no answer of raf run : {said}")
            time.sleep(0.2)


def _has_answered(control: Path) -> bool:
    said = (control / "launcher.log").read_bytes()
    return any(words in said for words in _ANSWERED)
