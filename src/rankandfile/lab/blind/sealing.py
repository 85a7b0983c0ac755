"""Run every program of a blind set once, confirm what its author says of it, keep the evidence and seal the truths."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from rankandfile.lab import truth as truths
from rankandfile.lab.run import lacking, run_scenario
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import ScenarioError, locate
from rankandfile.model.errors import UserError

from . import case as files
from . import sealed
from .case import Case, TruthFile
from .found.sealing import seal as seal_found

Record = Callable[[Scenario, Path], Path]
Say = Callable[[str], None]


def seal(folder: Path, say: Say = lambda _: None, record: Record = run_scenario) -> str:
    """The checksum of the sealed set. `record` makes the incident of a scenario in a folder.

    Raises `UserError` where a case is not as its files say; evidence of cases before it is kept, truths are not sealed.
    """
    stated = files.read_set(folder)
    if sealed.is_sealed(folder):
        raise UserError(f"{folder} is sealed already")
    if not stated.commit or stated.author in ("", files.NOT_SAID):
        raise UserError(
            f"{folder / files.SET} does not say who wrote the set, or which commit is to be scored"
        )
    if stated.of == "evidence":
        return seal_found(folder)
    found = files.cases(folder)
    checked = [(case, *_checked(case)) for case in found]
    if missing := {case.file.kind for case in found} - set(stated.kinds):
        raise UserError(f"{folder / files.SET}: kinds lacks {', '.join(sorted(missing))}")
    if record is run_scenario and (reason := next(filter(None, (lacking(one) for _, _, one in checked)), "")):
        raise UserError(reason)
    made = {}
    for case, truth, scenario in checked:
        say(f"{case.name}: running {case.file.ranks} ranks")
        made[case.name] = _made(stated.name, case, truth, scenario, record)
    checksum = sealed.write(folder, made)
    for case in found:
        (case.folder / files.TRUTH).unlink()
    return checksum


def _checked(case: Case) -> tuple[TruthFile, Scenario]:
    """Everything that can be known to be wrong before anything is run."""
    truth = files.read(case.folder / files.TRUTH, TruthFile)
    scenario = files.scenario_of(case, truth)
    tree = case.folder / "src"
    anchors = [truth.location, *truth.accepted, *(cohort.at for cohort in truth.divergence.cohorts)]
    for at in filter(None, anchors):
        try:
            locate(at, tree, case.name)
        except (ScenarioError, OSError, SyntaxError) as error:
            raise UserError(f"{case.name}: {error}") from error
    return truth, scenario


def _made(
    set_name: str, case: Case, stated: TruthFile, scenario: Scenario, record: Record
) -> sealed.SealedCase:
    with tempfile.TemporaryDirectory(prefix="raf-blind-") as scratch:
        try:
            incident = record(scenario, Path(scratch) / case.name)
        except ScenarioError as error:
            raise UserError(f"the case does not do what it says. {error}") from error
        evidence = case.folder / "evidence"
        shutil.rmtree(evidence, ignore_errors=True)
        shutil.copytree(incident / "evidence", evidence)
        log = incident / "calls.jsonl"
        known = truths.read(incident)
        return sealed.SealedCase(
            truth=msgspec.structs.replace(known, program=f"{set_name}/{case.name}"),
            accepted=[locate(at, case.folder / "src", case.name) for at in stated.accepted],
            calls=log.read_text(encoding="utf-8") if log.exists() else "",
        )
