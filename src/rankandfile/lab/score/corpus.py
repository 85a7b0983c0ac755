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
    names: Sequence[str],
    found: Sequence[Path],
    *,
    dumps_only: Callable[[str], bool],
    jobs: int = 2,
    in_process: bool = False,
    on_done: Callable[[Marks], None] | None = None,
) -> list[Score]:
    """Each analyser's marks on each incident, in the incidents' order; with `dumps_only`, of those that left dumps.

    Incident by incident, so that what one analyser has loaded of it serves the next, and need not be kept.
    """
    analysers = {name: analyser(name, in_process) for name in names}

    def marks_of(incident: Path, name: str) -> Marks | None:
        if not _is_asked(name, incident, dumps_only(name)):
            return None
        try:
            answer = analysers[name](incident)
        except Exception as error:  # whatever an analyser does must not end the scoring of the others
            answer = Answer(failed=f"{type(error).__name__}: {error}"[:200])
        truth = truths.read(incident)
        in_logs = told(truth, text_of(incident)) if name == "raf-logs" else None
        return judge(truth, answer, dumps_only(name), looked=_was_looked_at(incident), in_logs=in_logs)

    def all_of(incident: Path) -> list[Marks | None]:
        marks = [marks_of(incident, name) for name in names]
        for one in marks:
            if one is not None and on_done is not None:
                on_done(one)
        return marks

    with ThreadPoolExecutor(jobs) as pool:
        by_incident = list(pool.map(all_of, found))
    by_name = [[one for one in marks if one is not None] for marks in zip(*by_incident, strict=True)]
    return [
        Score(analyser=name, rows=tally(marks), marks=marks)
        for name, marks in zip(names, by_name, strict=True)
    ]


def _is_asked(name: str, incident: Path, dumps_only: bool) -> bool:
    """Whether the incident left anything of what the analyser looks at."""
    needs = "dumps" if dumps_only else "logs" if name == "raf-logs" else None
    return needs is None or any((incident / "evidence" / needs).glob("*"))


def _was_looked_at(incident: Path) -> bool:
    return any((incident / "evidence" / "stacks").glob("*"))
