"""Run every program of a blind set once, confirm what its author says of it, keep the evidence and seal the truths."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from rankandfile.capture.gather.stacks import program as py_spy
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
_NO_PY_SPY = "py-spy is not installed, and the evidence would lack its stacks: pip install py-spy"


def seal(folder: Path, say: Say = lambda _: None, record: Record = run_scenario) -> str:
    """The checksum of the sealed set. `record` makes the incident of a scenario in a folder.

    Raises `UserError` where a case is not as its files say; evidence of cases before it is kept, truths are not sealed.
    """
    stated = files.read_set(folder)
    if sealed.is_sealed(folder):
        raise UserError(f"{folder} is sealed already")
    for what, lacks in (
        ("who wrote the set", stated.author in ("", files.NOT_SAID)),
        ("which commit is to be scored", not stated.commit),
    ):
        if lacks:
            raise UserError(f"{folder / files.SET} does not say {what}")
    if stated.of == "evidence":
        return seal_found(folder)
    found = files.cases(folder)
    checksum = sealed.write(folder, _run(folder, stated, found, say, record))
    for case in found:
        (case.folder / files.TRUTH).unlink()
    return checksum


def check(
    folder: Path, names: Sequence[str] = (), say: Say = lambda _: None, record: Record = run_scenario
) -> None:
    """Run cases as for sealing, keep their evidence, and seal nothing. `names`: which cases; none for all.

    Raises `UserError` where a case is not as its files say."""
    if sealed.is_sealed(folder):
        raise UserError(f"{folder} is sealed already")
    stated = files.read_set(folder)
    if stated.of == "evidence":
        raise UserError(f"{folder} has no programs that could be run")
    found = files.cases(folder)
    if unknown := {*names} - {case.name for case in found}:
        raise UserError(f"{folder} has no case {', '.join(sorted(unknown))}")
    _run(folder, stated, [case for case in found if not names or case.name in names], say, record)


def _run(
    folder: Path, stated: files.SetFile, found: Sequence[Case], say: Say, record: Record
) -> dict[str, sealed.SealedCase]:
    """What the run of each case showed, once all of them are seen to be well written."""
    checked = [(case, *_checked(case)) for case in found]
    if missing := {case.file.kind for case in found} - set(stated.kinds):
        raise UserError(f"{folder / files.SET}: kinds lacks {', '.join(sorted(missing))}")
    if record is run_scenario:
        reasons = [*(lacking(one) for _, _, one in checked), "" if py_spy() else _NO_PY_SPY]
        if reason := next(filter(None, reasons), ""):
            raise UserError(reason)
    made = {}
    for case, truth, scenario in checked:
        say(f"{case.name}: running {case.file.ranks} ranks")
        made[case.name] = _made(stated.name, case, truth, scenario, record)
        looked = any((case.folder / "evidence" / "stacks").glob("pyspy_*"))
        if record is run_scenario and scenario.hang and not looked:
            say(f"{case.name}: no stack by py-spy was to be had of any rank")
    return made


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
