"""Every patch that is offered for a case of an opened set, put into its program and run."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from rankandfile.lab import truth as truths
from rankandfile.lab.diagnosed import diagnosed
from rankandfile.lab.prove import Proof, finishes
from rankandfile.lab.run import lacking
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import ScenarioError
from rankandfile.model.diagnosis import BY_HAND, Diagnosis, Remedy
from rankandfile.model.errors import UserError

from .case import Case, cases, lacks, to_run
from .said_again import said_again

#: A loaded machine can make a healthy run look stuck.
_ATTEMPTS = 2


def opened(folder: Path) -> list[Case]:
    """The cases that hang. Raises `UserError` where the set is still sealed."""
    found = cases(folder)
    if not all((case.folder / truths.FILE).is_file() for case in found):
        raise UserError(f"{folder} is not opened yet: raf lab blind reveal {folder}")
    return [case for case in found if truths.read(case.folder).hang]


def prove(case: Case) -> list[Proof]:
    """One proof of each patch, by the case's own evidence and sources; one without a title where none is offered."""
    said = diagnosed([case.folder / "evidence"], [case.folder / "src"])
    offered = {one.diff: one for verdict in said.verdicts for one in verdict.remedies if one.diff}
    found = [_proved(case, one) for one in offered.values()]
    return found or [_proof(case, words=_why_none(said), held=True)]


def _why_none(said: Diagnosis) -> str:
    """The reason that is given with the verdict; empty where nothing is said of a patch."""
    remedies = (one for verdict in said.verdicts for one in verdict.remedies)
    return next((one.text for one in remedies if one.title == BY_HAND), "")


def _proof(
    case: Case,
    title: str = "",
    *,
    words: str,
    held: bool,
    ran: bool = True,
    seconds: float = 0.0,
    diff: str = "",
) -> Proof:
    name = f"{case.folder.parent.name}/{case.name}"
    return Proof(
        scenario=name, what="remedy", origin="diagnosis", plain=False,
        held=held, ran=ran, pattern=title, title=title, words=words, seconds=seconds, diff=diff,
    )  # fmt: skip


def _scenario(case: Case) -> Scenario:
    known = truths.read(case.folder)
    return to_run(case, known.title, known.cause, known.culprits)


def _proved(case: Case, remedy: Remedy) -> Proof:
    absent = (lacks(case) and f"{lacks(case)} is not installed here") or lacking(_scenario(case))
    if absent:
        return _proof(case, remedy.title, held=False, ran=False, words=absent, diff=remedy.diff or "")
    began, held, words = time.monotonic(), False, "it cannot be applied"
    with tempfile.TemporaryDirectory(prefix="raf-patch-") as scratch:
        src = Path(shutil.copytree(case.folder / "src", Path(scratch) / "src"))
        for attempt in range(_ATTEMPTS if applied(remedy.diff or "", src) else 0):
            held, words = _finishes(_scenario(case), src, Path(scratch) / f"run-{attempt}")
            if held:
                again = said_again(case.folder / "evidence", Path(scratch) / f"run-{attempt}")
                words = f"{words}, {again}" if again.before else words
                break
    seconds = round(time.monotonic() - began, 1)
    return _proof(case, remedy.title, held=held, words=words, seconds=seconds, diff=remedy.diff or "")


def applied(diff: str, src: Path) -> bool:
    """Whether it could be."""
    done = subprocess.run(["git", "apply", "-p1", "-"], cwd=src, input=diff, text=True, capture_output=True)
    return done.returncode == 0


def _finishes(scenario: Scenario, src: Path, control: Path) -> tuple[bool, str]:
    try:
        return finishes(scenario, src, control)
    except (ScenarioError, OSError) as error:
        return False, str(error).splitlines()[0]
