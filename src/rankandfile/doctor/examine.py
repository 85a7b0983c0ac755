"""The examination: every check on every process of the job, and what that makes of the next hang."""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.model.ledger import Note
from rankandfile.model.settings import Diagnosable, Examination, Finding, Settings

from . import checks
from .checks.names import unknown
from .job_setup import JobSetup, Options
from .table import FIRST, LAST, Release, parse, shown

_ORDER = ("harmful", "useless", "missing", "ok")
_COSTS = ("all", "part", "nothing")


def examine(parts: Sequence[Settings], options: Options, torch: str | None = None) -> Examination:
    """What is wrong with the settings of a job's processes, worst first. `torch` overrides what the files say."""
    told = torch or next((part.torch for part in parts if part.torch), None)
    telling = (part.torch_from for part in parts if part.torch_from and part.torch == told)
    told_by = "--torch" if torch else next(telling, "")
    release = parse(told) if told else None
    notes = [*(note for part in parts for note in part.notes), *_about(release, told_by)]
    findings: list[Finding] = []
    for part in parts:
        setup = JobSetup(part, release, options)
        findings += checks.findings(setup)
        notes += (
            Note(file=str(one.place), where="", what=f"{one.name} is in no row of the table: not known")
            for one in unknown(setup)
        )
    kept = _unique(findings)
    return Examination(
        diagnosable=_diagnosable(kept),
        torch=told if release else None,
        torch_from=told_by,
        findings=kept,
        notes=list(dict.fromkeys(notes)),
    )


def _about(release: Release | None, told_by: str) -> list[Note]:
    """What is not known of the release."""
    if release is None:
        what = f"which release {told_by or 'the job'} has is not known: --torch 2.9 tells"
    elif release > LAST:
        what = f"{shown(release)} is newer than the table of variables: taken to be like {shown(LAST)}"
    elif release < FIRST:
        what = f"{shown(release)} is older than the table of variables, which begins at {shown(FIRST)}"
    else:
        return []
    return [Note(file="torch", where="", what=what)]


def _unique(findings: Sequence[Finding]) -> list[Finding]:
    """Each once, worst first. Several kinds of processes may share a file, and so a finding."""
    seen: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        seen.setdefault((finding.check, finding.says, str(finding.place)), finding)
    return sorted(seen.values(), key=lambda one: (_ORDER.index(one.severity), _COSTS.index(one.costs)))


def _diagnosable(findings: Sequence[Finding]) -> Diagnosable:
    costs = {finding.costs for finding in findings if finding.severity != "ok"}
    return "no" if "all" in costs else "partly" if "part" in costs else "yes"
