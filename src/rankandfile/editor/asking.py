"""What an editor asks about its open files, and what it is told: first the findings, then a change for each of them.

In: the folder of the program, which of its files are open, and their text in the editor. Out: what was found, and then,
one by one, the change that alone mends a finding and brings no other one, or why there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.lint import Change, Changed, Flagged, LintReport
from rankandfile.source.lint.program import opened
from rankandfile.source.lint.run import Options, said_of


class Question(Struct, frozen=True, kw_only=True):
    folder: str
    """The program: a folder of the workspace."""
    open: tuple[str, ...]
    """Files that are asked about, by their resolved paths."""
    texts: dict[str, str]
    """What the editor has in files, by their resolved paths."""
    hints: bool = False
    plain: bool = False


class Found(Struct, frozen=True, kw_only=True, tag=True):
    """The first answer."""

    report: LintReport


class Mend(Struct, frozen=True, kw_only=True, tag=True):
    """What can be done about one finding."""

    file: str
    line: int
    fingerprint: str
    change: Change | None = None
    unchanged: str = ""
    changed: tuple[Changed, ...] = ()


Answer: TypeAlias = Found | Mend


def answers(question: Question, options: Options) -> Iterator[Answer]:
    """Paths are relative to the working directory, where they are below it."""
    unsaved = {Path(file): text for file, text in question.texts.items()}
    tree, places, _every = opened([Path(question.folder)], unsaved)
    asked = frozenset(known for known, at in places.items() if str(at) in question.open)
    report = said_of(tree, places, asked, options)
    yield Found(report=report)
    for each in report.flagged:
        # All others count as known: the change is made for this one alone.
        known = tuple(other.fingerprint for other in report.flagged if other.fingerprint != each.fingerprint)
        alone = replace(options, known=known, changes="all", plain=question.plain)
        yield _mend(each, said_of(tree, places, asked, alone))


def _mend(flagged: Flagged, report: LintReport) -> Mend:
    same = next((each for each in report.flagged if _place(each) == _place(flagged)), flagged)
    return Mend(
        file=flagged.file,
        line=flagged.line,
        fingerprint=flagged.fingerprint,
        change=same.change,
        unchanged=same.unchanged,
        changed=report.changed if same.change is not None else (),
    )


def _place(flagged: Flagged) -> tuple[str, int, str]:
    return flagged.file, flagged.line, flagged.fingerprint
