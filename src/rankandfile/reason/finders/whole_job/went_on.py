"""A warning that somebody waits, and work behind it in the same log: what was feared did not happen."""

from __future__ import annotations

from typing import Any

import polars as pl

from rankandfile.model.events import event_id
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.from_logs.watches import over
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd


@finder(precedence=65, of="logs")
def went_on(facts: Facts, _: WaitEnd) -> Finding | None:
    """Where every line that tells of a wait was taken back by what the log goes on to say."""
    events = facts.case.events.with_columns(pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String))
    past = over(events)
    anew = events.filter(pl.col("kind") == "earlier_attempt").sort("log", "line")
    work = events.filter(pl.col("kind").is_in(["progress", "work_goes_on"])).sort("log", "line")
    bad = events.filter(pl.col("role").is_in(["messenger", "echo", "origin"])).select("log", "line", "text")
    if (
        facts.hung
        or not (past or anew.height)
        or not work.height
        or any((log, line) not in past for log, line, _ in bad.iter_rows())
    ):
        return None
    last = work.row(-1, named=True)
    if anew.height:
        return _started_anew(anew.row(0, named=True), last)
    first = next(text for log, line, text in bad.iter_rows() if (log, line) in past)
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


def _started_anew(failed: dict[str, Any], last: dict[str, Any]) -> Finding:
    return Finding(
        hang=False,
        cause="no_hang",
        confidence="supported",
        sentence=(
            f'An attempt failed ("{failed["text"][:120]}"), and the ranks were started anew: behind that the log goes '
            f'on with work, up to "{last["text"][:120]}". No line tells that anything waits since.'
        ),
        evidence=(event_id(failed["log"], failed["line"]), event_id(last["log"], last["line"])),
    )
