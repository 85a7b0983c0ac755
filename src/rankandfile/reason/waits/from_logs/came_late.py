"""A rank that others gave up on, and that goes on behind that, or is done: late, and not stuck."""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace

from rankandfile.model.causes import CAUSES
from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, shortened, upper, verb

_LONGEST = 120
#: A rank's last work before it heard that others had given up.
_BEFORE = "work_before_signal"
#: Clocks of two hosts differ by less; those of two zones by more.
_CLOCKS_NS, _MOST_NS = 10_000_000_000, 3_500_000_000_000
_DAY_NS = 86_400_000_000_000


def came_late(facts: Facts, found: Finding) -> Finding:
    """The finding, with what its one culprit says later than the watchdogs, where it says such."""
    if len(found.culprits) != 1 or not found.victims or not _of_the_host(found.cause):
        return found
    (rank,) = found.culprits
    rows = facts.case.events.filter(pl.col("kind").cast(pl.String).is_in(["work_late", _BEFORE]))
    for row in rows.sort("log", "line").iter_rows(named=True):
        fields = fields_of(row)
        if row["kind"] == _BEFORE and not _behind(facts, found, fields.get("of_day_ns")):
            continue
        said_by = row["rank"] if row["rank"] is not None else fields.get("speaker")
        # Where all others stand in the call, hardly anybody else can have said it.
        if said_by == rank or (said_by is None and {rank, *found.victims} >= set(range(world_of(facts)))):
            return _late(facts, found, row, named=said_by == rank)
    return found


def _behind(facts: Facts, found: Finding, of_day_ns: object) -> bool:
    """The time of day is one after the others gave up, in their files."""
    gave_up = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == "watchdog_timeout") & pl.col("rank").is_in(list(found.victims))
    )["time_ns"].min()
    if not isinstance(gave_up, int) or not isinstance(of_day_ns, int):
        return False
    return _CLOCKS_NS < (of_day_ns - gave_up) % _DAY_NS < _MOST_NS


def _of_the_host(cause: str) -> bool:
    return cause == "undetermined" or CAUSES[cause].family == "host"


def _late(facts: Facts, found: Finding, row: Row, *, named: bool) -> Finding:
    (rank,) = found.culprits
    line, done = shortened(row["text"], _LONGEST), bool(fields_of(row).get("done"))
    limits = [r.timeout_ms for r in facts.accounts.reports if r.rank in found.victims and r.timeout_ms]
    limit = f" after the {min(limits) / 1000:g} s that the group allows" if limits else ""
    who, gave_up = ranks_words([rank]), sorted(found.victims)
    end = "is done with it" if done else "gets on with it"
    told = (
        f'But {who} was at work, and {end} after that: "{line}". It was late, and not stuck: what it did takes longer '
        "than the group waits."
        if named
        else f'A line after that is of none of these, and so perhaps of {who}: "{line}". Then it was late.'
    )
    return replace(
        found,
        cause="too_short_timeout" if done else "host_slow",
        confidence="supported" if named else "hypothesis",
        hang=False if named else None,
        sentence=f"{upper(ranks_words(gave_up))} gave up{limit} on a call to which {who} had not come. {told}",
        doing={rank: f'at work when the others gave up, and later: "{line}"'},
        evidence=(event_id(row["log"], row["line"]), *found.evidence),
        alternatives=(
            perhaps(
                "host_slow" if done else "too_short_timeout",
                f"What {who} did may take longer than it should."
                if done
                else "It may just need longer than the limit.",
                [rank],
                decided_by="how long it took in earlier runs",
            ),
        ),
        missing=(
            Missing(
                what=f"what {verb(gave_up, 'it is', 'they are')} kept waiting by",
                how="how long that work takes, each time",
            ),
        ),
    )
