"""Running analysers over a folder of incidents."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from rankandfile.lab import truth as truths

from .analysers import Analyser, analyser
from .answer import Answer
from .judge import Marks, judge
from .tally import Row, tally
from .told import text_of, told

T = TypeVar("T")


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


class _Asked(NamedTuple):
    """What each incident is asked, as it can be handed to another process."""

    names: tuple[str, ...]
    dumps_only: tuple[bool, ...]
    in_process: bool


def score(
    names: Sequence[str],
    found: Sequence[Path],
    *,
    dumps_only: Callable[[str], bool],
    jobs: int = 1,
    in_process: bool = False,
    on_done: Callable[[], None] | None = None,
) -> list[Score]:
    """Each analyser's marks on each incident, in the incidents' order; with `dumps_only`, of those that left dumps.

    Incident by incident, so that what one analyser has loaded of it serves the next, and need not be kept.
    """
    asked = _Asked(tuple(names), tuple(map(dumps_only, names)), in_process)
    by_incident = of_each(partial(_marks, asked), found, jobs, processes=in_process, on_done=on_done)
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
    on_done: Callable[[], None] | None = None,
) -> list[T]:
    """What `work` says of each incident, in their order; `jobs` at a time, each in a process of its own or not."""
    done = []
    with _workers(jobs, processes) as pool:
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


def _marks(asked: _Asked, incident: Path) -> list[Marks | None]:
    return [
        marked(name, dumps_only, incident, _analyser(name, asked.in_process))
        if _is_asked(name, incident, dumps_only)
        else None
        for name, dumps_only in zip(asked.names, asked.dumps_only, strict=True)
    ]


def marked(name: str, dumps_only: bool, incident: Path, analyse: Analyser) -> Marks:
    """The marks of one answer; of an analyser that fails, that it did."""
    try:
        answer = analyse(incident)
    except Exception as error:  # whatever an analyser does must not end the scoring of the others
        answer = Answer(failed=f"{type(error).__name__}: {error}"[:200])
    truth = truths.read(incident)
    in_logs = told(truth, text_of(incident)) if name == "raf-logs" else None
    return judge(truth, answer, dumps_only, looked=_was_looked_at(incident), in_logs=in_logs)


_analyser = cache(analyser)


def _is_asked(name: str, incident: Path, dumps_only: bool) -> bool:
    """Whether the incident left anything of what the analyser looks at."""
    needs = "dumps" if dumps_only else "logs" if name == "raf-logs" else None
    return needs is None or any((incident / "evidence" / needs).glob("*"))


def _was_looked_at(incident: Path) -> bool:
    return any((incident / "evidence" / "stacks").glob("*"))
