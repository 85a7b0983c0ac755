"""The page of first contacts: one block for each scoring of a set, and nothing of it is ever changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rankandfile.lab.score.tally import Share, share

from . import linted
from .forms import FORMS
from .marks import BlindMarks
from .scoring import Round, Scoring

NONE_YET = "No round has been scored yet.\n"
_HEAD = "# First contact\n\n## Rounds\n"

_QUESTIONS: tuple[tuple[str, Callable[[BlindMarks], bool | None]], ...] = (
    ("hang or not", lambda mark: mark.hang),
    ("culprits exact", lambda mark: mark.culprits),
    ("healthy, nobody named", lambda mark: mark.nobody),
    ("innocent blamed", lambda mark: bool(mark.innocents)),
    ("suspects right", lambda mark: mark.suspects),
    ("cause", lambda mark: mark.cause),
    ("file", lambda mark: mark.file),
    ("line", lambda mark: mark.line),
    ("condition", lambda mark: mark.condition),
    ("earliest call", lambda mark: mark.call),
    ("patch offered", lambda mark: mark.patch_offered),
    ("patch holds", lambda mark: mark.patch),
    ("abstained", lambda mark: mark.abstained),
    ("no answer", lambda mark: mark.failed is not None),
)
#: Counted in statements, and not in answers.
_FALSE = "false statements"

Row = tuple[str, Sequence[BlindMarks]]


def by_form(marks: Sequence[BlindMarks]) -> list[Row]:
    """Rounds that were scored before there was a form have none of it."""
    found = ((form.name, [mark for mark in marks if mark.form == form.name]) for form in FORMS)
    return [(name, of_form) for name, of_form in found if of_form]


def by_kind(marks: Sequence[BlindMarks]) -> list[Row]:
    """Of the answers from everything."""
    full = [mark for mark in marks if mark.form == FORMS[0].name]
    return [(kind, [mark for mark in full if mark.kind == kind]) for kind in sorted({m.kind for m in full})]


def shares(marks: Sequence[BlindMarks]) -> list[tuple[str, Share]]:
    statements = [number < len(mark.false) for mark in marks for number in range(mark.checked)]
    return [
        *((words, share([question(mark) for mark in marks])) for words, question in _QUESTIONS),
        (_FALSE, share(statements)),
    ]


def seconds(marks: Sequence[BlindMarks]) -> str:
    return f"{sum(mark.seconds for mark in marks) / max(1, len(marks)):.1f}"


def questions() -> list[str]:
    return [*(words for words, _ in _QUESTIONS), _FALSE]


def block(done: Round) -> str:
    """Everything that the page says of one scoring."""
    return "\n".join(_lines(done)) + "\n"


def head(done: Scoring, what: str) -> Iterator[str]:
    """What was scored, when and with which code, and who wrote it."""
    commit = f"`{done.code.commit}`" if done.code.commit else "unknown"
    yield f"### {done.day} · {done.set}" + (f" · scoring {done.number}" if done.number > 1 else "")
    yield ""
    yield f"* First contact: {f'**no**, {why}' if (why := done.not_first_because) else 'yes'}."
    yield f"* Commit {commit}{', with changes that are not committed' if done.code.dirty else ''}."
    yield f"* Set sealed as `{done.checksum}`."
    yield f"* {what}."
    yield f"* The author's word: {' '.join(done.author.split())}"


def _lines(done: Round) -> Iterator[str]:
    full = [mark for mark in done.marks if mark.form == FORMS[0].name]
    kinds = [f"{len(marks)} {kind}" for kind, marks in by_kind(done.marks)]
    yield from head(done, f"{len(full)} cases: {', '.join(kinds)}")
    yield ""
    yield from _table("evidence", by_form(done.marks))
    yield ""
    yield f"By kind, from {FORMS[0].name}:"
    yield ""
    yield from _table("kind", by_kind(done.marks))
    yield ""
    yield f"What was wrong, from {FORMS[0].name}:"
    yield ""
    yield from ([f"* {mark.case}: {words}" for mark in full if (words := wrong(mark))] or ["* nothing"])
    if done.lint:
        yield ""
        yield from linted.lines(done.lint)


def _table(first: str, rows: Sequence[Row]) -> Iterator[str]:
    yield f"| {' | '.join([first, 'cases', *questions(), 's'])} |"
    yield f"| {' | '.join(['---'] * (len(questions()) + 3))} |"
    for name, marks in rows:
        values = [str(value) for _, value in shares(marks)]
        yield f"| {' | '.join([name, str(len(marks)), *values, seconds(marks)])} |"


def wrong(mark: BlindMarks) -> str:
    """What was not right, in words; empty if all was."""
    asked = ("hang", "culprits", "nobody", "suspects", "cause", "file", "line", "condition", "call")
    words = [name for name in asked if getattr(mark, name) is False]
    words += [f"blamed {', '.join(map(str, mark.innocents))}"] if mark.innocents else []
    words += [f"not so: {'; '.join(mark.false[:3])}"] if mark.false else []
    words += ["its patch does not hold"] if mark.patch is False else []
    words += ["abstained"] if mark.abstained and mark.culprits is False else []
    words += [f"no answer ({mark.failed})"] if mark.failed else []
    return ", ".join(words)


def append(page: Path, block: str) -> None:
    """Add the block of one scoring at the end of the page, which is begun where there is none."""
    text = page.read_text(encoding="utf-8") if page.is_file() else _HEAD
    text = text.replace(NONE_YET, "")
    page.write_text(f"{text.rstrip()}\n\n{block}", encoding="utf-8")


def times_told(page: Path, checksum: str) -> int:
    """How often the page has the set that was sealed so."""
    return page.read_text(encoding="utf-8").count(f"`{checksum}`") if page.is_file() else 0


def told_otherwise(page: Path, set_name: str, checksum: str) -> bool:
    """The page has a set of this name, and not one that was sealed so."""
    if not page.is_file():
        return False
    text = page.read_text(encoding="utf-8")
    named = any(line.startswith("### ") and set_name in line.split(" · ") for line in text.splitlines())
    return named and checksum not in text
