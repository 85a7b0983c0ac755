"""What `raf lint` says of the programs of a sealed set: only their sources are read, and nothing is run.

Asked for are causes which a linter could find: a line of the program decides, and not a process or a host. Found is one
where the line of an error or a warning, or a line of its story, is the true one or one that is as good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import msgspec

from rankandfile.lab.score.tally import share
from rankandfile.lab.truth import LocationTruth
from rankandfile.model.lint import Flagged
from rankandfile.source.lint.run import Options, lint

from . import case as files
from . import sealed
from .case import Case
from .code import Code, code

_NOT_ASKED = ("process and host",)


class LintMark(msgspec.Struct, kw_only=True):
    """One program. None means that the question does not arise."""

    case: str
    found: bool | None
    hinted: bool | None
    """Found, if hints count too."""
    false: bool | None
    """Of a healthy program: something is an error or a warning."""
    failed: str | None = None


class Linted(msgspec.Struct, kw_only=True):
    """All programs of one set."""

    day: date
    set: str
    checksum: str
    code: Code
    marks: list[LintMark]


def linted(folder: Path) -> Linted:
    """Raises `UserError` where the set is not sealed, was changed since, or has no programs."""
    stated, seal = files.read_set(folder), sealed.read(folder)
    marks = [marked(case, seal.content.cases[case.name]) for case in files.cases(folder)]
    return Linted(day=date.today(), set=stated.name, checksum=seal.checksum, code=code(), marks=marks)


def marked(case: Case, known: sealed.SealedCase) -> LintMark:
    flagged: Sequence[Flagged] = ()
    failed = None
    try:
        flagged = lint([case.folder / "src"], Options(hints=True)).flagged
    except Exception as error:  # a failure is a result too, and must not end the linting of the others
        failed = f"{type(error).__name__}: {error}"[:200]
    loud = [each for each in flagged if each.severity != "hint"]
    places = [place for place in (known.truth.location, *known.accepted) if place is not None]
    asked = known.truth.hang and bool(places) and case.file.kind not in _NOT_ASKED
    return LintMark(
        case=case.name,
        found=any(tells(each, places) for each in loud) if asked else None,
        hinted=any(tells(each, places) for each in flagged) if asked else None,
        false=None if known.truth.hang else bool(loud),
        failed=failed,
    )


def tells(flagged: Flagged, places: Sequence[LocationTruth]) -> bool:
    """Whether a finding is at one of the places, or has it in its story."""
    told = [(flagged.file, flagged.line), *((step.file, step.line) for step in flagged.story)]
    return any(f"/{file}".endswith(f"/{p.file}") and line == p.line for file, line in told for p in places)


def lines(marks: Sequence[LintMark]) -> Iterator[str]:
    """What a page says of them."""
    yield f"`raf lint`, sources only, of {len(marks)} programs, causes of processes and hosts left out:"
    yield ""
    yield f"* errors and warnings tell the line: {share([mark.found for mark in marks])}"
    yield f"* with hints: {share([mark.hinted for mark in marks])}"
    yield f"* healthy programs with an error or a warning: {share([mark.false for mark in marks])}"
    for words, chosen in (
        ("told", [mark.case for mark in marks if mark.found]),
        ("false in", [mark.case for mark in marks if mark.false]),
        ("failed in", [f"{mark.case} ({mark.failed})" for mark in marks if mark.failed]),
    ):
        if chosen:
            yield f"* {words}: {', '.join(chosen)}"


def block(done: Linted) -> str:
    """For a set that was scored before. The checksum stands bare: this is no scoring."""
    commit = f"`{done.code.commit}`" if done.code.commit else "unknown"
    head = [
        f"### {done.day} · {done.set} · lint",
        "",
        f"Commit {commit}{', with changes that are not committed' if done.code.dirty else ''}; set {done.checksum}.",
        "",
    ]
    return "\n".join([*head, *lines(done.marks)]) + "\n"
