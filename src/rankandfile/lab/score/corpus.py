"""Running analysers over a folder of incidents."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import msgspec

from rankandfile.lab import truth as truths

from .analysers import OURS, Analyser, analyser, sees_only_dumps
from .answer import Answer
from .judge import Marks, judge
from .tally import ScoreRow, tally
from .told_by_logs import text_of, told

T = TypeVar("T")


class Score(msgspec.Struct, kw_only=True):
    analyser: str
    rows: list[ScoreRow]
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
    jobs: int = 1,
    in_process: bool = False,
    elsewhere: AbstractContextManager[Executor] | None = None,
    on_done: Callable[[], None] | None = None,
) -> list[Score]:
    """Each analyser's marks on each incident that left what it looks at, in the incidents' order.

    Incident by incident, so that what one analyser has loaded of it serves the next, and need not be kept. `elsewhere`:
    who works instead of processes of this machine, and sees the incidents under these paths.
    """
    by_incident = of_each(
        partial(_marks, names, in_process),
        found,
        jobs,
        processes=in_process,
        elsewhere=elsewhere,
        on_done=on_done,
    )
    by_name = [[one for one in marks if one is not None] for marks in zip(*by_incident, strict=True)]
    return [
        Score(analyser=name, rows=tally(marks), marks=marks)
        for name, marks in zip(names, by_name, strict=True)
    ]


def of_each(
    work: Callable[[Path], T],
    found: Sequence[Path],
    jobs: int,
    *,
    processes: bool = True,
    elsewhere: AbstractContextManager[Executor] | None = None,
    on_done: Callable[[], None] | None = None,
) -> list[T]:
    """What `work` says of each incident, in their order; `jobs` at a time, each in a process of its own or not, or
    elsewhere."""
    done = []
    with elsewhere or _workers(jobs, processes) as pool:
        for one in pool.map(work, found):
            done.append(one)
            if on_done is not None:
                on_done()
    return done


def _workers(jobs: int, processes: bool) -> Executor:
    """Threads where each answer has a process of its own, or where one at a time is enough."""
    if processes and jobs > 1:
        # Python and the analysers are loaded once in each worker; a fork would copy Polars' threads in any state.
        return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    return ThreadPoolExecutor(jobs)


def _marks(names: Sequence[str], in_process: bool, incident: Path) -> list[Marks | None]:
    return [
        marked(name, incident, _analyser(name, in_process)) if _is_asked(name, incident) else None
        for name in names
    ]


def marked(name: str, incident: Path, analyse: Analyser) -> Marks:
    """The marks of one answer; of an analyser that fails, that it did."""
    try:
        answer = analyse(incident)
    except Exception as error:  # whatever an analyser does must not end the scoring of the others
        answer = Answer(failed=f"{type(error).__name__}: {error}"[:200])
    truth = truths.read(incident)
    in_logs = told(truth, text_of(incident)) if name == "raf-logs" else None
    return judge(truth, answer, sees_only_dumps(name), looked=was_looked_at(incident), in_logs=in_logs)


_analyser = cache(analyser)


def _is_asked(name: str, incident: Path) -> bool:
    """Whether the incident left anything of what the analyser looks at."""
    if name in OURS:
        return bool(OURS[name].paths(incident))
    return not sees_only_dumps(name) or any((incident / "evidence" / "dumps").glob("*"))


def was_looked_at(incident: Path) -> bool:
    """Somebody took stacks."""
    return any((incident / "evidence" / "stacks").glob("*"))
