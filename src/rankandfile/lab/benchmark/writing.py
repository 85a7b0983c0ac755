"""Write revealed blind sets as an open benchmark: each case once, the forms of evidence as lists of its files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from rankandfile.lab import truth as truths
from rankandfile.lab.blind import case as files
from rankandfile.lab.blind import sealed
from rankandfile.lab.blind.case import Case
from rankandfile.lab.blind.forms import FORMS, Form, copied
from rankandfile.lab.blind.sealed import SealedCase
from rankandfile.lab.score.corpus import was_looked_at
from rankandfile.lab.score.judge import placeable
from rankandfile.model.causes import CAUSES
from rankandfile.model.document import pretty
from rankandfile.model.errors import UserError

from . import scorer

VERSION = 2


def write(sets: Sequence[Path], into: Path) -> int:
    """How many cases were written. Raises `UserError` where a set is not revealed, or `into` is not empty."""
    if into.exists() and any(into.iterdir()):
        raise UserError(f"{into} is not empty")
    stated = {folder: files.read_set(folder) for folder in sets}
    if without := [folder for folder, one in stated.items() if one.of == "evidence"]:
        raise UserError(
            f"{without[0]} is a set of found evidence: there is no program in it to make a task of"
        )
    names = [stated[folder].name for folder in sets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"two of the sets are called {twice[0]}")
    cases: dict[str, dict[str, object]] = {}
    checksums = {}
    for folder in sets:
        seal = sealed.read(folder)
        known, checksums[stated[folder].name] = seal.content.cases, seal.checksum
        for case in files.cases(folder):
            if not (case.folder / truths.FILE).is_file():
                raise UserError(f"{folder} is not revealed: raf lab blind reveal {folder}")
            name = f"{stated[folder].name}.{case.name}"
            cases[name] = _written(name, case, known[case.name], into / "cases" / name)
    document = {
        "version": VERSION,
        "sets": checksums,
        "forms": [form.name for form in FORMS],
        "cases": list(cases.values()),
    }
    (into / scorer.TASKS).write_bytes(pretty(document) + b"\n")
    shutil.copyfile(str(scorer.__file__), into / "score.py")
    (into / "README.md").write_text(_readme(), encoding="utf-8")
    return len(cases)


def _written(name: str, case: Case, known: SealedCase, into: Path) -> dict[str, object]:
    into.mkdir(parents=True)
    for part in ("evidence", "src"):
        shutil.copytree(case.folder / part, into / part, ignore=shutil.ignore_patterns("__pycache__"))
    given, looked = {}, {}
    for form in FORMS:
        with tempfile.TemporaryDirectory(prefix="raf-benchmark-") as scratch:
            copied(case.folder, form, known.truth, Path(scratch) / name)
            given[form.name] = {
                "files": _files(Path(scratch) / name / "evidence"),
                "source": form.source,
                "times": form.times,
                "said_to_hang": form.told_hung and known.truth.hang,
            }
            looked[form.name] = was_looked_at(Path(scratch) / name)
    (into / "truth.json").write_bytes(pretty(_truth(known, looked)) + b"\n")
    times = {file: (into / "evidence" / file).stat().st_mtime_ns for file in _files(into / "evidence")}
    return {"name": name, "kind": case.kind, "ranks": case.file.ranks, "forms": given, "times": times}


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _truth(known: SealedCase, looked: dict[str, bool]) -> dict[str, object]:
    """What is right in each form, null where it is not asked: the scorer only compares."""
    truth, divergence = known.truth, known.truth.divergence
    asked_for_call = truth.hang and truth.culprits_from_dumps and divergence.kind != "none"
    return {
        "title": truth.title,
        "hang": truth.hang,
        "ranks": truth.world_size,
        "culprits": truth.culprits,
        "decoys": truth.decoys,
        "fix": truth.fix.summary if truth.fix else "",
        "seen_in": truth.seen_in,
        "accepted_culprits": {
            form.name: [truth.culprits, *([truth.culprits_from_dumps] if form.dumps_only else [])]
            for form in FORMS
        },
        "causes": {form.name: _causes(known, form) for form in FORMS},
        "places": {form.name: _places(known, looked[form.name]) for form in FORMS},
        "call": {
            "groups": [name for name in (divergence.group, divergence.description) if name],
            "seq": divergence.seq,
            "sites": [
                {"file": one.file, "line": one.line} for one in divergence.cohorts if one.file and one.line
            ],
        }
        if asked_for_call
        else None,
    }


def _causes(known: SealedCase, form: Form) -> list[str] | None:
    truth = known.truth
    if not truth.hang or (form.dumps_only and not truth.decidable_from_dumps):
        return None
    expected = truth.cause_from_dumps if form.dumps_only else truth.cause
    return list(dict.fromkeys(filter(None, (expected, truth.cause, *truth.accepted_causes))))


def _places(known: SealedCase, looked: bool) -> list[dict[str, object]] | None:
    if not known.truth.hang or known.truth.location is None or not placeable(known.truth, looked):
        return None
    places = [known.truth.location, *known.accepted]
    return [{"file": place.file, "line": place.line} for place in places]


def _readme() -> str:
    text = resources.files(__package__).joinpath("README.md").read_text(encoding="utf-8")
    rows = [f"| `{cause.word}` | {cause.meaning} |" for cause in CAUSES.values()]
    return text.replace("CAUSES\n", "\n".join(rows) + "\n")
