"""Logs of several runs in one folder: last week's job, or an attempt that was started anew, beside those of the hang.

What shows two runs is one rank that wrote two logs of one name, in two folders, the second long after the first had
ended: `tuesday/rank_3.log` and `friday/rank_3.log`. Where the folders count attempts (`attempt_0/3/stderr.log`), it
need not be long, and logs without a time are told apart by these. Copies of one log, parts of it that were taken one
after the other, logs of different hosts and of different kinds do not do that. All that ended before the second began
goes with the first.

In: the logs, with their ranks as far as their paths tell them. Out: the runs, the earliest first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from rankandfile.evidence.owners.attempts import Attempt
from rankandfile.evidence.owners.counted_folders import by_number, counted, joining
from rankandfile.evidence.owners.dump_facts import duration
from rankandfile.evidence.text.logs.assemble import LogPart, in_year

_HOUR = 3600 * 10**9
_ZONES = 16 * _HOUR
"""How much later a clock of another zone may show."""
#: Of logs of one name whose paths tell no rank, so many are asked for the ranks that speak in them.
_MOST_ASKED = 64
_DATED = ("wall", "zoned", "no_year")


class _Span(NamedTuple):
    first_ns: int
    last_ns: int
    zoned: bool


class LogRun(NamedTuple):
    number: int
    """From 1, the earliest."""
    logs: frozenset[int]
    """Positions of the logs that are of this run alone; one that goes on into the next is of neither."""
    first_ns: int
    """Zero, where no line tells a time."""
    last_ns: int


def log_runs(logs: Sequence[LogPart]) -> tuple[LogRun, ...]:
    """The runs that the logs tell apart; none where nothing shows several."""
    spans = {i: span for i, log in enumerate(logs) if (span := _span(log)) is not None}
    cuts = _cuts(sorted(_between(logs, spans)))
    edges = [None, *cuts, None] if cuts else []
    runs: list[LogRun] = []
    for begin, end in pairwise(edges):
        inside = [
            i
            for i, span in spans.items()
            if (begin is None or span.first_ns >= begin) and (end is None or span.last_ns <= end)
        ]
        if inside:
            first = min(spans[i].first_ns for i in inside)
            last = max(spans[i].last_ns for i in inside)
            runs.append(LogRun(len(runs) + 1, frozenset(inside), first, last))
    return _with_undated([log.source for log in logs], runs, spans)


def _with_undated(
    sources: Sequence[str], runs: Sequence[LogRun], dated: Container[int]
) -> tuple[LogRun, ...]:
    """With the logs whose folders alone tell of which run they are."""
    if not runs:
        return tuple(LogRun(number, logs, 0, 0) for number, logs in enumerate(by_number(sources, dated), 1))
    joined = joining(sources, [run.logs for run in runs], (i for i in range(len(sources)) if i not in dated))
    return tuple(
        run._replace(logs=run.logs | {i for i, of in joined.items() if of == number})
        for number, run in enumerate(runs)
    )


def chosen_run(runs: Sequence[LogRun], attempt: Attempt | None, number: int | None) -> LogRun | None:
    """The run of the attempt that the dumps are of; without dumps that of the number, else the latest in which most of
    the logs are. None where nothing tells, or there is only one."""
    if len(runs) < 2:
        return None
    if attempt is not None and not runs[0].last_ns:
        return None
    if attempt is not None:
        within = [run for run in runs if run.first_ns <= attempt.last_ns <= run.last_ns]
        return within[0] if len(within) == 1 else None
    if number is not None:
        return runs[number - 1]
    most = max(len(run.logs) for run in runs)
    return next(run for run in reversed(runs) if 2 * len(run.logs) >= most)


def of_another(run: LogRun, chosen: LogRun) -> str:
    """Why the logs of a run do not enter the case."""
    if not (run.last_ns and chosen.last_ns):
        when = "an earlier" if run.number < chosen.number else "a later"
        return f"by its folder, it is of {when} run (attempt {run.number})"
    if run.last_ns < chosen.first_ns:
        before = duration(chosen.first_ns - run.last_ns)
        return f"its run had ended {before} before the logs diagnosed begin: an earlier run (attempt {run.number})"
    after = duration(run.first_ns - chosen.last_ns)
    return f"its run began {after} after the logs diagnosed end: a later run (attempt {run.number})"


def _between(logs: Sequence[LogPart], spans: Mapping[int, _Span]) -> Iterator[tuple[int, int]]:
    """From the end of a rank's log to the beginning of its log of the next run."""
    named: dict[str, dict[int, str]] = defaultdict(dict)
    for i in spans:
        folder, _, name = logs[i].source.rpartition("/")
        named[name][i] = folder
    for alike in named.values():
        if len({*alike.values()}) < 2:
            continue
        speaks: dict[int | str, list[int]] = defaultdict(list)
        for i in alike:
            for rank in _ranks(logs[i], len(alike)):
                speaks[rank].append(i)
            if (where := counted(logs[i].source)) is not None:
                # What lies in one place of each attempt's folder is of one rank, whoever that is.
                speaks[f"{where.before}/{where.behind}"].append(i)
        for own in speaks.values():
            own.sort(key=spans.__getitem__)
            for one, other in pairwise(own):
                ended, begun = spans[one].last_ns, spans[other].first_ns
                later = _counts_up(logs[one], logs[other])
                least = _ZONES if spans[one].zoned != spans[other].zoned else 0 if later else _HOUR
                if begun - ended > least:
                    yield ended, begun


def _cuts(between: Sequence[tuple[int, int]]) -> list[int]:
    """A moment in each stretch; one for those that share one."""
    found: list[int] = []
    begin = end = 0
    for one, other in between:
        if found and one < end:
            begin, end = max(begin, one), min(end, other)
            found[-1] = (begin + end) // 2
        else:
            begin, end = one, other
            found.append((begin + end) // 2)
    return found


def _counts_up(one: LogPart, other: LogPart) -> bool:
    """Whether their folders say that the second is of a later attempt."""
    first, second = counted(one.source), counted(other.source)
    return first is not None and second is not None and first.number < second.number


def _ranks(log: LogPart, alike: int) -> set[int]:
    """Who speaks in it."""
    if log.rank is not None:
        return {log.rank}
    if alike > _MOST_ASKED:
        return set()
    return {rank for rank in log.raw.columns.get("rank", ()) if isinstance(rank, int)}


def _span(log: LogPart) -> _Span | None:
    row = log.raw.row
    if (
        row.begun is None
        or row.last_ns is None
        or row.time_quality not in _DATED
        or row.begun[1] not in _DATED
    ):
        return None
    first, last = (
        in_year(ns, quality, log.written_ns) or 0
        for ns, quality in (row.begun, (row.last_ns, row.time_quality))
    )
    return _Span(first, last, row.time_quality == "zoned") if first <= last else None
