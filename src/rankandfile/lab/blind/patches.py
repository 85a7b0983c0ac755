"""Whether the patch of an answer holds: it is applied to the program, which must then end with 0 on every rank."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from rankandfile.lab.prove import finishes
from rankandfile.lab.run import lacking
from rankandfile.lab.source_tree import ScenarioError
from rankandfile.model.diagnosis import Diagnosis

from .case import Case, lacks, to_run
from .proofs import applied
from .sealed import SealedCase


def offered(said: Diagnosis) -> str | None:
    """The diff of the first remedy that has one."""
    return next((one.diff for verdict in said.verdicts for one in verdict.remedies if one.diff), None)


def holds(case: Case, known: SealedCase, diff: str) -> bool | None:
    """None where this machine cannot run the program."""
    scenario = to_run(case, known.truth.title, known.truth.cause, known.truth.culprits)
    if lacking(scenario) or lacks(case):
        return None
    with tempfile.TemporaryDirectory(prefix="raf-patch-") as scratch:
        src = Path(shutil.copytree(case.folder / "src", Path(scratch) / "src"))
        if not applied(diff, src):
            return False
        try:
            return finishes(scenario, src, Path(scratch) / "run")[0]
        except (ScenarioError, OSError):
            return False
