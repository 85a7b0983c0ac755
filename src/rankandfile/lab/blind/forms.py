"""The forms in which people have evidence; a case is scored once in each."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rankandfile.lab import variants
from rankandfile.lab.truth import Truth

#: Whenever it was that somebody copied the files: all of them at once.
_COPIED_S = 1_700_000_000


class Form(NamedTuple):
    name: str
    damage: Callable[[Path, Truth], object] | None = None
    """Takes evidence away from a copy of the incident."""
    source: bool = False
    dumps_only: bool = False
    """It is asked for what the dumps can tell."""
    times: bool = True
    """Files still tell when they were written."""
    told_hung: bool = False
    """Of a job that hangs, that it does is said beside the evidence (`--hung`), as its owner knows after ten minutes: a
    program of a set stands still for seconds when its evidence is taken, which proves nothing by itself."""


def _only_dumps(incident: Path, _truth: Truth) -> None:
    for path in (incident / "evidence").iterdir():
        if path.name != "dumps":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _no_dumps(incident: Path, _truth: Truth) -> None:
    for path in (incident / "evidence").iterdir():
        if path.name not in ("stacks", "logs"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _without_times(incident: Path, _truth: Truth) -> None:
    for path in (incident / "evidence").rglob("*"):
        os.utime(path, (_COPIED_S, _COPIED_S))


FORMS = (
    Form("all evidence and sources", source=True),
    Form("all evidence"),
    Form("dumps only", _only_dumps, dumps_only=True),
    Form("dumps only of a hang", _only_dumps, dumps_only=True, told_hung=True),
    Form("culprit's dump lost", variants.lost_dump_of_culprit),
    Form("stacks and logs only", _no_dumps),
    Form("stacks, logs and sources", _no_dumps, source=True),
    Form("logs only", variants.only_logs),
    Form("copied without times", _without_times, times=False),
)


def copied(case: Path, form: Form, truth: Truth, into: Path) -> list[Path]:
    """The case's evidence in this form, copied to `into`, where no truth lies; returns the folders of sources."""
    for name in ("evidence", "src"):
        shutil.copytree(case / name, into / name, ignore=shutil.ignore_patterns("__pycache__"))
    if form.damage is not None:
        form.damage(into, truth)
    return [into / "src"] if form.source else []
