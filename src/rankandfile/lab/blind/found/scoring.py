"""Each folder of a sealed set of found evidence, answered once and marked."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from rich.console import Console

from rankandfile.lab.blind import case as files
from rankandfile.lab.blind import sealed
from rankandfile.lab.blind.code import code
from rankandfile.lab.blind.scoring import FOLDER, MARKS, Scoring, times_scored
from rankandfile.lab.diagnosed import diagnosed
from rankandfile.model.diagnosis import Diagnosis, to_json
from rankandfile.model.document import pretty
from rankandfile.render.card import card

from .case import FoundCase, FoundTruth, cases
from .marks import FoundMarks, marked

#: Nothing of the card is left out.
_TALL, _WIDE = 400, 160


class FoundRound(Scoring, kw_only=True):
    """One scoring of a set of found evidence."""

    marks: list[FoundMarks]


def score(folder: Path, *, before: int = 0, on_done: Callable[[], None] = lambda: None) -> FoundRound:
    """Answers and marks, also kept in `scores/N` of the set. `before`: how often it was scored, as others know."""
    stated, seal = files.read_set(folder), sealed.read(folder)
    number = max(times_scored(folder), before) + 1
    into = folder / FOLDER / str(number)
    into.mkdir(parents=True)
    marks = []
    for one in cases(folder):
        said, words, mark = answered(one, seal.content.found[one.name])
        (into / f"{one.name}.json").write_bytes(
            pretty({"failed": said}) if isinstance(said, str) else to_json(said)
        )
        (into / f"{one.name}.txt").write_text(words, encoding="utf-8")
        marks.append(mark)
        on_done()
    done = FoundRound(
        day=date.today(),
        set=stated.name,
        author=stated.author,
        checksum=seal.checksum,
        code=code(stated.commit),
        asked_commit=stated.commit,
        number=number,
        marks=marks,
    )
    (into / MARKS).write_bytes(pretty(done) + b"\n")
    return done


def answered(one: FoundCase, truth: FoundTruth) -> tuple[Diagnosis | str, str, FoundMarks]:
    """The answer, the card as a person reads it, and its marks."""
    said: Diagnosis | str
    began = time.perf_counter()
    try:
        said = diagnosed([one.evidence])
    except Exception as error:  # a failure is an answer too, and must not end the scoring of the others
        said = f"{type(error).__name__}: {error}"[:200]
    seconds = time.perf_counter() - began
    words = said if isinstance(said, str) else printed(said)
    whole = words if isinstance(said, str) else f"{words}\n{to_json(said).decode()}"
    return said, words, marked(one.name, truth, said, words, whole, seconds)


def printed(said: Diagnosis) -> str:
    console = Console(file=io.StringIO(), width=_WIDE, color_system=None, legacy_windows=False)
    console.print(card(said, width=_WIDE, height=_TALL, verbose=True))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
