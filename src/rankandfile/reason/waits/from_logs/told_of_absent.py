"""What else logs tell of ranks that never came to a call: that they were at work, or that one unit of the job is gone.

A line that names no rank may still be theirs: the others wait, and say so.
"""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts
from rankandfile.reason.finders.whole_job.single_lines import Unclaimed, unclaimed
from rankandfile.reason.ranks.did_instead import Story
from rankandfile.reason.ranks.from_logs.accounts import Report, fields_of
from rankandfile.reason.ranks.from_logs.counters import Counter, counters
from rankandfile.reason.words import ranks_words, verb

_RAISED = ("traceback", "oom", "loader_raised")
#: What stands between the names of a pod and its container: `pod/sft-0/main`.
_NAMES = re.compile(r"[\s/:]+")


def at_work(facts: Facts, ranks: tuple[int, ...], reports: tuple[Report, ...]) -> Counter | None:
    """A counter of theirs that still went up when the others' patience ended. One that nobody claims is theirs only
    where a single rank is missing."""
    ids = {report.evidence for report in reports}
    gave_up = _rows_of(facts.case, ids)
    first = gave_up["time_ns"].min()
    lines = dict(gave_up.group_by("log").agg(pl.col("line").min()).iter_rows())
    pods, theirs = _pods(facts.case), set(ranks)
    for one in reversed(counters(facts.case)):
        if one.rank is None:
            mine = len(ranks) == 1 and not pods.get(one.pod or "", theirs).isdisjoint(theirs)
        else:
            mine = one.rank in theirs
        moved = one.moved_until(first if isinstance(first, int) else None)
        # A file that many write to need not have their lines in the order of their times: those come first.
        after = one.log in lines and one.line > lines[one.log]
        if mine and (after if moved is None else moved):
            return one
    return None


def at_work_words(one: Counter, ranks: tuple[int, ...]) -> str:
    every = f" every {one.every_ms / 1000:g} s" if one.every_ms else ""
    whose = "" if one.rank is not None else ", which names no rank"
    return (
        f"{ranks_words(ranks)} {verb(ranks, 'was', 'were')} at work all the time: its log counts on{every} until the "
        f'others give up, at last "{one.words}"{whose}'
    )


@heuristic(
    "the only one left",
    "the one process of which an end is told is the one rank of which nothing else is",
    otherwise={},
)
def by_elimination(facts: Facts, ranks: tuple[int, ...]) -> dict[int, Story]:
    """The one pod, host or process of which an end is told and no rank is known, where nobody else is missing."""
    nameless = unclaimed(facts)
    found = [one for one in nameless if one.unit is not None]
    if not found and len(ranks) == 1 and (story := _uncaught(facts, nameless, ranks[0])) is not None:
        return {ranks[0]: story}
    if not found or not _one_end(found) or not all(_may_be(facts, one, ranks) for one in found):
        return {}
    first = found[0]
    story = Story(
        cause=first.cause,
        confidence="supported",
        doing=f"{first.words}, and no other rank is missing",
        evidence=tuple(one.evidence for one in found[:2]),
        location=found[0].place,
    )
    return dict.fromkeys(ranks, story)


def _uncaught(facts: Facts, nameless: list[Unclaimed], rank: int) -> Story | None:
    """An exception that ended its process, of which no rank is told, and that one process alone raised: the rank that
    alone is missing, if the log in which it stands is of ranks around it or of all."""
    ended = [one for one in nameless if one.kind in _RAISED and one.uncaught]
    logs = {one.log for one in ended}
    if not ended or len(logs) != 1 or len({one.words for one in ended}) != 1:
        return None
    writers = sorted({r.rank for r in facts.accounts.reports if r.evidence.startswith(f"L{min(logs)}:")})
    if not writers or not (writers[0] - 1 <= rank <= writers[-1] + 1):
        return None
    inner = next((one for one in nameless if one.log in logs and one.original), ended[0])
    more = f" (first {inner.words})" if inner is not ended[0] else ""
    return Story(
        cause="raised",
        confidence="supported",
        doing=f"{ended[0].words}{more}, which names no rank, and no other rank is missing",
        evidence=tuple(dict.fromkeys((ended[0].evidence, inner.evidence))),
        location=inner.place or ended[0].place,
    )


def _one_end(found: list[Unclaimed]) -> bool:
    """The kernel and the scheduler each tell of it in their own way, on one host."""
    units: dict[str, set[object]] = {}
    for one in found:
        units.setdefault(one.kind, set()).add(one.unit)
    return all(len(those) == 1 for those in units.values()) and len({one.host for one in found} - {None}) < 2


def _may_be(facts: Facts, one: Unclaimed, ranks: tuple[int, ...]) -> bool:
    """No rank that is still there belongs to it; and one process is one rank."""
    kind, name = one.unit or ("", "")
    if kind == "process":
        return len(ranks) == 1
    if kind == "pod":
        return _pods(facts.case).get(name, set(ranks)) <= set(ranks)
    return {rank for rank, host in facts.accounts.hosts.items() if host == name} <= set(ranks)


def _pods(case: Case) -> dict[str, set[int]]:
    """The ranks that write out of each pod."""
    out: dict[str, set[int]] = {}
    rows = case.events.filter(pl.col("fields").str.contains('"pod"', literal=True).fill_null(False))
    for row in rows.iter_rows(named=True):
        fields = fields_of(row)
        rank = row["rank"] if row["rank"] is not None else fields.get("speaker")
        if isinstance(rank, int) and isinstance(pod := fields.get("pod"), str):
            for name in _NAMES.split(pod):
                out.setdefault(name, set()).add(rank)
    return out


def _rows_of(case: Case, ids: set[str]) -> pl.DataFrame:
    name = pl.concat_str(
        pl.lit("L"), pl.col("log").cast(pl.String), pl.lit(":"), pl.col("line").cast(pl.String)
    )
    return case.events.filter(name.is_in(list(ids)))
