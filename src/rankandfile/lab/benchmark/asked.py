"""Any analyser asked of opened sets in any form of evidence, and marked as at first contact, which it no longer is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import msgspec
from rich import box
from rich.table import Table

from rankandfile.lab.blind import case as files
from rankandfile.lab.blind import page, scoring, sealed
from rankandfile.lab.blind.case import CASE, Case
from rankandfile.lab.blind.forms import FORMS, Form
from rankandfile.lab.blind.marks import BlindMarks
from rankandfile.lab.score.analysers import ANALYSERS, OURS, run
from rankandfile.lab.score.answer import Answer
from rankandfile.lab.score.corpus import of_each
from rankandfile.model.diagnosis import Diagnosis, from_json
from rankandfile.model.errors import UserError

from .scorer import words_of


class Asked(msgspec.Struct, kw_only=True):
    analyser: str
    marks: list[BlindMarks]


def cases_of(sets: Sequence[Path]) -> list[Path]:
    """The folders of all cases. Raises `UserError` for what is no opened set of programs."""
    for folder in sets:
        stated = files.read_set(folder)
        if stated.of == "evidence":
            raise UserError(
                f"{folder} is a set of found evidence: it has one form only, and its marks are others"
            )
        if not any(folder.glob("*/truth.toml")) or scoring.first_scoring(folder) is None:
            raise UserError(f"{folder} is not revealed: raf lab blind reveal {folder}")
    return [case.folder for folder in sets for case in files.cases(folder)]


def asked(
    names: Sequence[str],
    cases: Sequence[Path],
    forms: Sequence[Form],
    *,
    run_patches: bool = False,
    jobs: int = 1,
    on_done: Callable[[], None] | None = None,
) -> list[Asked]:
    work = partial(_marks, tuple(names), tuple(forms), run_patches)
    done = of_each(work, cases, jobs, on_done=on_done)
    return [
        Asked(analyser=name, marks=[mark for of_case in done for mark in of_case[at]])
        for at, name in enumerate(names)
    ]


def _marks(
    names: tuple[str, ...], forms: tuple[Form, ...], run_patches: bool, folder: Path
) -> list[list[BlindMarks]]:
    case = Case(folder, files.read(folder / CASE, files.CaseFile))
    known = _sealed(folder.parent)[case.name]
    return [
        [scoring.answered(case, form, known, run_patches, _ask(name))[1] for form in forms] for name in names
    ]


@cache
def _sealed(folder: Path) -> dict[str, sealed.SealedCase]:
    return sealed.read(folder).content.cases


def _ask(name: str) -> scoring.Ask:
    if name == "raf":
        return scoring.ours
    if name in ANALYSERS:
        return lambda evidence, _src, _hung: ANALYSERS[name](evidence.parent)
    return partial(_command, name)


def _command(template: str, evidence: Path, src: list[Path], hung: bool) -> Diagnosis | Answer:
    done = run(words_of(template, evidence, src[0] if src else None, hung))
    try:
        return from_json(done.stdout.encode())
    except (msgspec.DecodeError, msgspec.ValidationError):
        lines = done.stderr.strip().splitlines() or ["printed no diagnosis"]
        return Answer(failed="took too long" if done.status is None else lines[-1][:200])


def may_be_asked(name: str) -> bool:
    """Those of ours that are given a part of the evidence have nothing to do here: the form is that part."""
    return name == "raf" or name not in OURS


def forms_of(words: Sequence[str]) -> list[Form]:
    """Raises `UserError` for what is none."""
    known = {form.name: form for form in FORMS}
    for word in words:
        if word not in known and word != "all":
            raise UserError(f"no form of evidence '{word}': all, or one of {', '.join(known)}")
    return [form for form in FORMS if "all" in words or form.name in words]


def table(one: Asked) -> Table:
    """A row for each question: there are more of them than forms, and none may be cut off."""
    rows = [(of, marks) for of, marks in page.by_form(one.marks) if marks]
    shown = Table(title=one.analyser, title_justify="left", box=box.SIMPLE_HEAD)
    for header in ("", *(of for of, _ in rows)):
        shown.add_column(header, overflow="fold")
    shown.add_row("cases", *(str(len(marks)) for _, marks in rows))
    for question in zip(*(page.shares(marks) for _, marks in rows), strict=True):
        shown.add_row(question[0][0], *(str(value) for _, value in question))
    shown.add_row("s", *(page.seconds(marks) for _, marks in rows))
    return shown


def worst_lines(one: Asked) -> Iterator[str]:
    for mark in one.marks:
        if words := page.wrong(mark):
            yield f"{mark.case}, {mark.form}: {words}"
