"""A warning that somebody waits, and work behind it in the same log: what was feared did not happen."""

from __future__ import annotations

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.events import event_id
from rankandfile.model.log_shapes import WARNINGS
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.caught import survived
from rankandfile.reason.ranks.from_logs.watches import over
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd

#: A program's own word that it waits; for less than this long it is no warning of anything.
_WAITED = "said_waiting"
_LONG_MS = 60_000


def _passed(events: pl.DataFrame) -> frozenset[tuple[int, int]]:
    """Programs' own words of a long wait, if each rank that waited has said another thing since, and work goes on."""
    rows = events.filter((pl.col("kind") == _WAITED) & pl.col("rank").is_not_null())
    if rows["waited_ms"].fill_null(0).max() is None or not (rows["waited_ms"].fill_null(0) >= _LONG_MS).any():
        return frozenset()
    said = events.filter(pl.col("kind") == "last_said").with_columns(
        pl.coalesce("rank", _SPEAKER).alias("rank")
    )
    last = {(log, rank): line for log, rank, line in said.select("log", "rank", "line").iter_rows()}
    work = dict(
        events.filter(pl.col("kind").is_in(["progress", "work_goes_on"]))
        .group_by("log")
        .agg(pl.col("line").max())
        .iter_rows()
    )
    found = set()
    for row in rows.iter_rows(named=True):
        again = max(row["line"], fields_of(row).get("last_line") or 0)
        if again >= min(work.get(row["log"], 0), last.get((row["log"], row["rank"]), 0)):
            return frozenset()
        found.add((row["log"], row["line"]))
    return frozenset(found)


_SPEAKER = pl.col("fields").str.json_path_match("$.speaker").cast(pl.Int32, strict=False)


@finder(precedence=65, of="logs")
def went_on(facts: Facts, _: WaitEnd) -> Finding | None:
    """Where every line that tells of a wait was taken back by what the log goes on to say."""
    events = facts.case.events.with_columns(pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String))
    past = over(events) | _passed(events)
    anew = events.filter(pl.col("kind") == "earlier_attempt").sort("log", "line")
    work = events.filter(pl.col("kind").is_in(["progress", "work_goes_on"])).sort("log", "line")
    bad = events.filter(pl.col("role").is_in(["messenger", "echo", "origin"]))
    bad = bad.filter(~(survived(facts.case, bad) & bad["rank"].is_null()))
    if (
        facts.hung
        or not (past or anew.height)
        or not work.height
        or any((row["log"], row["line"]) not in past for row in bad.iter_rows(named=True))
    ):
        return None
    last = work.row(-1, named=True)
    if anew.height:
        return _started_anew(anew.row(0, named=True), last)
    told = events.filter(pl.col("kind").is_in([*WARNINGS, _WAITED])).sort("log", "line")
    first = next(row["text"] for row in told.iter_rows(named=True) if (row["log"], row["line"]) in past)
    return Finding(
        hang=False,
        cause="no_hang",
        confidence="supported",
        sentence=(
            f'A warning told of a wait ("{first[:120]}"), and it was over: after it the log goes on with work, up to '
            f'"{last["text"][:120]}". No line tells that anything waits since.'
        ),
        evidence=(
            *(event_id(log, line) for log, line in sorted(past)[:3]),
            event_id(last["log"], last["line"]),
        ),
    )


def _started_anew(failed: Row, last: Row) -> Finding:
    return Finding(
        hang=False,
        cause="no_hang",
        confidence="supported",
        sentence=(
            f'An attempt failed ("{failed["text"][:120]}"), and the ranks were started anew: after that the log goes '
            f'on with work, up to "{last["text"][:120]}". No line tells that anything waits since.'
        ),
        evidence=(event_id(failed["log"], failed["line"]), event_id(last["log"], last["line"])),
    )
