"""Each case of a sealed set answered once in each form of evidence, and marked."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import msgspec

from rankandfile.lab import calls
from rankandfile.lab.diagnosed import diagnosed
from rankandfile.lab.score.answer import Answer
from rankandfile.lab.score.corpus import was_looked_at
from rankandfile.model.diagnosis import Diagnosis, to_json
from rankandfile.model.document import pretty

from . import case as files
from . import patches, sealed
from .case import Case
from .code import Code, code
from .forms import FORMS, Form, copied
from .linted import LintMark
from .linted import marked as lint_marked
from .marks import BlindMarks, marked
from .numbering import numbered_otherwise
from .statements import statements

FOLDER, MARKS = "scores", "marks.json"


class Scoring(msgspec.Struct, kw_only=True):
    """What was scored, and when, with which code."""

    day: date
    set: str
    author: str
    checksum: str
    asked_commit: str
    code: Code
    number: int
    """1 for the first time that anybody scored it."""

    @property
    def not_first_because(self) -> str:
        """Why it is no first contact; empty if it is."""
        if self.number > 1:
            return "the set was scored before"
        return "" if self.code.as_asked else f"the code is not that of commit {self.asked_commit}"


class Round(Scoring, kw_only=True):
    """One scoring of a set of programs."""

    marks: list[BlindMarks]
    lint: list[LintMark] = []


def times_scored(folder: Path) -> int:
    """Also those that were broken off: somebody may have seen answers."""
    return len(list((folder / FOLDER).glob("[0-9]*")))


def first_round(folder: Path) -> Round | None:
    """None: it was not scored yet."""
    first = first_scoring(folder)
    return msgspec.json.decode((first / MARKS).read_bytes(), type=Round) if first else None


def answer_of(folder: Path, case: str, form: Form) -> Path:
    """The file of the first answer to the case in this form."""
    return (first_scoring(folder) or folder) / _word(form) / f"{case}.json"


def first_scoring(folder: Path) -> Path | None:
    """Its folder, if it came to its end."""
    ended = [file.parent for file in (folder / FOLDER).glob(f"[0-9]*/{MARKS}")]
    return min(ended, key=lambda one: int(one.name), default=None)


def score(
    folder: Path, *, before: int = 0, run_patches: bool = True, on_done: Callable[[], None] = lambda: None
) -> Round:
    """Answers and marks, also kept in `scores/N` of the set. `before`: how often it was scored as far as others know.
    `run_patches`: each program is run once more with the patch that is offered for it, where this machine can.

    Raises `UserError` where the set was changed since it was sealed.
    """
    stated, seal, found = files.read_set(folder), sealed.read(folder), files.cases(folder)
    number = max(times_scored(folder), before) + 1
    into = folder / FOLDER / str(number)
    into.mkdir(parents=True)
    marks = []
    lint = []
    for case in found:
        lint.append(lint_marked(case, seal.content.cases[case.name]))
        for form in FORMS:
            said, one = answered(case, form, seal.content.cases[case.name], run_patches)
            file = into / _word(form) / f"{case.name}.json"
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(to_json(said) if isinstance(said, Diagnosis) else pretty({"failed": said}))
            marks.append(one)
        on_done()
    done = Round(
        day=date.today(),
        set=stated.name,
        author=stated.author,
        checksum=seal.checksum,
        asked_commit=stated.commit,
        code=code(stated.commit),
        number=number,
        marks=marks,
        lint=lint,
    )
    (into / MARKS).write_bytes(pretty(done) + b"\n")
    return done


#: Asked of evidence, with the folders of sources where the form has them, and whether the job is said to hang.
Ask = Callable[[Path, list[Path], bool], Diagnosis | Answer]


def ours(evidence: Path, src: list[Path], hung: bool) -> Diagnosis:
    return diagnosed([evidence], src, hung)


def answered(
    case: Case, form: Form, known: sealed.SealedCase, run_patches: bool = False, ask: Ask = ours
) -> tuple[Diagnosis | Answer | str, BlindMarks]:
    said: Diagnosis | Answer | str
    with tempfile.TemporaryDirectory(prefix="raf-blind-") as scratch:
        incident = Path(scratch) / case.name
        src = copied(case.folder, form, known.truth, incident)
        began = time.perf_counter()
        try:
            said = ask(incident / "evidence", src, form.told_hung and known.truth.hang)
        except Exception as error:  # a failure is an answer too, and must not end the scoring of the others
            said = f"{type(error).__name__}: {error}"[:200]
        seconds = time.perf_counter() - began
        looked = was_looked_at(incident)
    marks = marked(
        case.name,
        case.kind,
        form.name,
        known,
        said,
        dumps_only=form.dumps_only,
        looked=looked,
        seconds=seconds,
    )
    # What another analyser says may hold no statements and no patch that could be checked.
    if not isinstance(said, Diagnosis):
        return said, marks
    return said, _checked(marks, case, form, known, said, run_patches)


def _checked(
    marks: BlindMarks, case: Case, form: Form, known: sealed.SealedCase, said: Diagnosis, run_patches: bool
) -> BlindMarks:
    """With what the log of calls says of its statements, and a run of the program with its patch."""
    log, src = calls.parsed(known.calls.encode()), case.folder / "src"
    told = statements(said, log, src)
    if not all(one.holds for one in told):
        told = statements(said, log, src, numbered_otherwise(case.folder / "evidence", log))
    diff = patches.offered(said) if form.source and known.truth.hang else None
    return msgspec.structs.replace(
        marks,
        checked=len(told),
        false=[one.words for one in told if not one.holds],
        patch_offered=diff is not None if form.source and known.truth.hang else None,
        patch=patches.holds(case, known, diff) if diff and run_patches else None,
    )


def _word(form: Form) -> str:
    return form.name.replace("'", "").replace(" ", "-")
