"""Open a set that was scored: truth beside answer, and the cases become ordinary incidents of the lab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from rankandfile.lab import truth as truths
from rankandfile.lab.score.answer import Answer, from_diagnosis
from rankandfile.lab.truth import Truth, short_ranks
from rankandfile.model.diagnosis import from_json
from rankandfile.model.errors import UserError

from . import sealed
from .forms import FORMS
from .page import wrong
from .scoring import Round, answer_of, first_round


class Beside(msgspec.Struct, kw_only=True):
    """One case: what is true, what was said from everything, and what was wrong in which form of evidence."""

    case: str
    title: str
    lines: list[tuple[str, str, str]]
    """What is asked, the truth, the answer."""
    wrong: list[tuple[str, str]]


def reveal(folder: Path) -> list[Beside]:
    """Truths are written into the cases. Raises `UserError` where the set was not scored, or was changed."""
    seal = sealed.read(folder)
    first = first_round(folder)
    if first is None:
        raise UserError(f"{folder} was not scored yet, and is a blind set no more once it is revealed")
    for name, known in seal.content.cases.items():
        truths.write(known.truth, folder / name)
        if known.calls:
            (folder / name / "calls.jsonl").write_text(known.calls, encoding="utf-8")
    return [_beside(folder, name, known.truth, first) for name, known in seal.content.cases.items()]


def _beside(folder: Path, name: str, truth: Truth, first: Round) -> Beside:
    said = _said(answer_of(folder, name, FORMS[0]))
    mine = [mark for mark in first.marks if mark.case == name]
    return Beside(
        case=name,
        title=truth.title,
        lines=list(_lines(truth, said)),
        wrong=[(mark.form, words) for mark in mine if (words := wrong(mark))],
    )


def _said(file: Path) -> Answer:
    try:
        return from_diagnosis(from_json(file.read_bytes()))
    except (msgspec.DecodeError, OSError):
        return Answer(failed="it gave no answer")


def _lines(truth: Truth, said: Answer) -> Iterator[tuple[str, str, str]]:
    words = {True: "yes", False: "no", None: said.failed or "does not say"}
    yield "hang", words[truth.hang], words[said.hang]
    yield "culprits", short_ranks(truth.culprits) or "nobody", short_ranks(said.culprits) or "nobody"
    yield "cause", truth.cause, said.cause or "none"
    place, found = truth.location, said.location
    if place is not None or found is not None:
        true_place = f"{place.file}:{place.line} {place.condition}" if place else "none"
        yield "place", true_place, f"{found.file}:{said.condition_line or found.line}" if found else "none"
    wanted = truth.divergence
    if wanted.kind != "none":
        sites = [
            f"{c.ranks}: {c.op} {c.file}:{c.line}" if c.op else f"{c.ranks}: nothing" for c in wanted.cohorts
        ]
        answered = ", ".join(f"{site.file}:{site.line}" for site in said.sites)
        yield (
            "call",
            f"{wanted.description or wanted.group} #{wanted.seq} ({'; '.join(sites)})",
            (f"{said.group} #{said.seq} ({answered})" if said.group else "none"),
        )
