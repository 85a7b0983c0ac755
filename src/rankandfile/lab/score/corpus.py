"""Running analysers over a folder of incidents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from rankandfile.lab import truth as truths

from .analysers import analyser
from .answer import Answer
from .judge import Marks, judge
from .tally import Row, tally
from .told import text_of, told


class Score(msgspec.Struct, kw_only=True):
    analyser: str
    rows: list[Row]
    marks: list[Marks]


def incidents(sets: Sequence[Path]) -> list[Path]:
    """Every folder below `sets` that holds an incident, by name."""
    return sorted({file.parent for folder in sets for file in _truths(folder)})


def _truths(folder: Path) -> Iterator[Path]:
    if (folder / truths.FILE).is_file():
        yield folder / truths.FILE
    else:
        yield from folder.glob(f"*/{truths.FILE}")
        yield from folder.glob(f"*/*/{truths.FILE}")


def score(
    name: str,
    found: Sequence[Path],
    *,
    dumps_only: bool,
    jobs: int = 2,
    in_process: bool = False,
    on_done: Callable[[Marks], None] | None = None,
) -> Score:
    """The analyser's marks on each incident, in the incidents' order; with `dumps_only`, of those that left dumps."""
    analyse = analyser(name, in_process)
    if dumps_only:
        found = [incident for incident in found if _left_dumps(incident)]
    if name == "raf-logs":
        found = [incident for incident in found if any((incident / "evidence" / "logs").glob("*"))]

    def one(incident: Path) -> Marks:
        try:
            answer = analyse(incident)
        except Exception as error:  # whatever an analyser does must not end the scoring of the others
            answer = Answer(failed=f"{type(error).__name__}: {error}"[:200])
        truth = truths.read(incident)
        in_logs = told(truth, text_of(incident)) if name == "raf-logs" else None
        marks = judge(truth, answer, dumps_only, looked=_was_looked_at(incident), in_logs=in_logs)
        if on_done is not None:
            on_done(marks)
        return marks

    with ThreadPoolExecutor(jobs) as pool:
        marks = list(pool.map(one, found))
    return Score(analyser=name, rows=tally(marks), marks=marks)


def _was_looked_at(incident: Path) -> bool:
    return any((incident / "evidence" / "stacks").glob("*"))


def _left_dumps(incident: Path) -> bool:
    return any((incident / "evidence" / "dumps").glob("*"))
