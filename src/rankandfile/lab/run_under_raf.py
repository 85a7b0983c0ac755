"""A scenario under `raf run` with nothing else configured: the same hang, and only what the black box has of it."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from rankandfile.capture.sentinel import findings
from rankandfile.lab import catalog, truth
from rankandfile.lab.blind import case as blind
from rankandfile.lab.ranks import Ranks
from rankandfile.lab.run import lacking
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import ScenarioError, build

#: From the end of the last rank to the verdict.
AT_END_S = 30.0
#: `raf run` looks again when a stall that it has no answer to has lasted twice as long: so long somebody waits for one.
PATIENCE_S = 45.0
_CASE = re.compile(r"^raf: (.*?)case: (.+)$", re.MULTILINE)


def run_watched(incident: Path, out_dir: Path, *, stall: float | None = None) -> Path:
    """Make the hang of an incident again, under `raf run`; `out_dir` becomes that incident with the case's evidence.

    What is true of it comes from the incident: the recorder and the lab's own call log cannot run together. Raises
    `ScenarioError` where the machine lacks something, the job does not hang, or `raf run` gives no answer.
    """
    scenario = _scenario(incident)
    if reason := lacking(scenario):
        raise ScenarioError(f"{scenario.name}: {reason}")
    with tempfile.TemporaryDirectory(prefix="job-") as folder:
        job = Path(folder).resolve()
        case = _run(scenario, job, stall)
        if out_dir.exists():
            shutil.rmtree(out_dir)
        out_dir.mkdir(parents=True)
        shutil.move(case / "evidence", out_dir / "evidence")
        if (case / findings.FILE).is_file():
            shutil.copyfile(case / findings.FILE, out_dir / findings.FILE)
        shutil.copyfile(job / "control" / "launcher.log", out_dir / "said.log")
        shutil.copyfile(incident / truth.FILE, out_dir / truth.FILE)
        shutil.copyfile(incident / "calls.jsonl", out_dir / "calls.jsonl")
        shutil.copytree(incident / "src", out_dir / "src")
    return out_dir


def _scenario(incident: Path) -> Scenario:
    """That of the lab's catalog, or of a blind set that was opened."""
    known = truth.read(incident)
    if (incident / blind.CASE).is_file():
        case = blind.Case(incident, blind.read(incident / blind.CASE, blind.CaseFile))
        if reason := blind.lacks(case):
            raise ScenarioError(f"{incident.name} needs {reason}")
        return blind.to_run(case, known.title, known.cause, known.culprits)
    try:
        return catalog.get(known.name)
    except KeyError as error:
        raise ScenarioError(f"{incident.name} is not of a real scenario: {error.args[0]}") from error


def _run(scenario: Scenario, job: Path, stall: float | None) -> Path:
    """The folder of the case that the last answer is about."""
    control, src = job / "control", job / "src"
    control.mkdir()
    build(scenario, src, fixed=False)
    command = [sys.executable, "-m", "rankandfile", "run", "--out", str(job / "case")]
    command += ["--stall", str(stall)] if stall is not None else []
    with Ranks(scenario, src, control, twin=False, under=[*command, "--"]) as ranks:
        answers = _Answers(control / "launcher.log")
        ranks.watch(until=lambda _: answers.case() is not None)
        end = time.monotonic() + AT_END_S
        over = False
        while (case := answers.case(last=over)) is None:
            if over or time.monotonic() > end:
                said = (control / "launcher.log").read_text(errors="replace")[-2000:]
                raise ScenarioError(f"{scenario.name}: no answer of raf run: {said}")
            time.sleep(0.2)
            over = ranks.over
    return case


class _Answers:
    """What `raf run` has said so far."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._first: float | None = None
        """When it was first without an answer."""

    def case(self, last: bool = False) -> Path | None:
        """That of the verdict, or of the last look if it comes to none. `last`: there will be no other."""
        found = _CASE.findall(self._log.read_text(errors="replace"))
        if not found:
            return None
        now = time.monotonic()
        self._first = self._first or now
        words, case = found[-1]
        given = not words or words.startswith("the job ended")
        return Path(case) if given or last or now > self._first + PATIENCE_S else None
