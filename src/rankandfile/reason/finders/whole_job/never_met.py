"""The store counted who came, and others say that they never got to it: they are those that it lacks, if as many."""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Location, Missing
from rankandfile.model.events import event_id
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.activity import is_library
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.watchdog_reports import frames
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

#: What a rank says that has spoken with the store.
_CAME = (
    "join_timeout",
    "unique_id_wait",
    "store_connection_lost",
    "store_wait",
    "nccl_init",
    "watchdog_timeout",
    "traceback",
)


@finder(precedence=40, of="logs")
def never_met(facts: Facts, _: WaitEnd) -> Finding | None:
    rows = _rows(facts, ("join_timeout",))
    counted = [(row, fields_of(row)) for row in rows if fields_of(row).get("expected") is not None]
    if not counted:
        return None
    row, fields = counted[-1]
    lacking = int(fields["expected"]) - int(fields.get("joined") or 0)
    there = {counting["log"] for counting, _ in counted}
    away = [one for one in rows if one["peer"] and one["log"] not in there] or _refused(facts, row)
    ranks = {one["rank"] for one in away if one["rank"] is not None} or _speakers(
        facts, {one["log"] for one in away}
    )
    if not away or len(ranks) != lacking:
        return None
    named, logs = tuple(sorted(ranks)), {one["log"] for one in away}
    unresolved = [one for one in _rows(facts, ("name_unresolved",)) if one["log"] in logs]
    refused = next((fields_of(one).get("error") for one in away if fields_of(one).get("error")), None)
    why = (
        f': they could not resolve its name ("{unresolved[0]["text"][:120]}")'
        if unresolved
        else f": {refused}"
        if refused
        else ""
    )
    return Finding(
        cause="init_stuck",
        confidence="supported",
        sentence=(
            f"{fields.get('joined')} of {fields['expected']} ranks came to the store. {upper(ranks_words(named))} "
            f"never got a connection to {away[0]['peer']}{why}."
        ),
        culprits=named,
        doing=dict.fromkeys(named, f"never reached the store at {away[0]['peer']}"),
        victims=tuple(rank for rank in range(int(fields["expected"])) if rank not in ranks),
        location=_place(facts, logs),
        evidence=tuple(event_id(one["log"], one["line"]) for one in (row, away[0], *unresolved[:1])),
        contradicted_by="a line of these ranks that they were connected",
        missing=(
            Missing(
                what=f"why {ranks_words(named)} {verb(named, 'does', 'do')} not reach it",
                how=f"on that host: `getent hosts` and a connection to {away[0]['peer']}",
            ),
        ),
        unadvised=("probes",),
    )


#: A name that is asked for this often, to the end of its log, is not found for a moment only.
_OFTEN = 3
_WORKED = ("progress", "work_goes_on")
_ASKS = re.compile(r"(?i)gai error|getaddrinfo|resol[uv]|retry|again|failed to connect")


@finder(precedence=42, of="logs")
def cannot_resolve(facts: Facts, _: WaitEnd) -> Finding | None:
    """Nobody gave up yet: a few ranks ask again and again for the name of the master's host, and say nothing else."""
    asking: dict[int, Row] = {
        row["rank"]: row
        for row in _rows(facts, ("name_unresolved",))
        if row["rank"] is not None and row["repeats"] >= _OFTEN
    }
    if not asking:
        return None
    went_on = {row["rank"] for row in _rows(facts, (*_CAME, *_WORKED))}
    for row in _rows(facts, ("last_said",)):
        rank = row["rank"] if row["rank"] is not None else fields_of(row).get("speaker")
        asked = asking.get(rank) if isinstance(rank, int) else None
        if (
            asked is not None
            and asked["log"] == row["log"]
            and row["line"] > fields_of(asked).get("last_line", 0)
        ):
            went_on.add(rank)
    ends = dict(facts.case.logs.filter(pl.col("rank").is_not_null()).select("log", "last_line").iter_rows())
    went_on |= {
        rank
        for rank, row in asking.items()
        if row["log"] in ends and not _ASKS.search(ends[row["log"]] or "")
    }
    named = tuple(sorted(rank for rank in asking if rank not in went_on))
    others = {*facts.accounts.last_lines, *facts.accounts.logged} - set(asking)
    if not named or went_on & set(asking) or len(named) >= len(others) or facts.accounts.gave_up:
        return None
    first = asking[named[0]]
    waiting = sorted({row["rank"] for row in _rows(facts, ("said_waiting",)) if row["rank"] in others})
    wait = f" {upper(ranks_words(waiting))} {verb(waiting, 'waits', 'wait')} meanwhile." if waiting else ""
    return Finding(
        cause="init_stuck",
        confidence="supported" if waiting else "hypothesis",
        sentence=(
            f"{upper(ranks_words(named))} cannot resolve the name of the host where the ranks are to meet, "
            f'{first["repeats"]} times up to the end of its log: "{first["text"][:200]}".{wait}'
        ),
        culprits=named,
        doing=dict.fromkeys(named, "asks in vain for the address of the host where the ranks are to meet"),
        victims=tuple(waiting),
        evidence=tuple(event_id(asking[rank]["log"], asking[rank]["line"]) for rank in named[:3]),
        contradicted_by="a line of these ranks that they were connected",
        missing=(
            Missing(
                what=f"why {ranks_words(named)} {verb(named, 'does', 'do')} not resolve it",
                how=f"on {first['host'] or 'that host'}: `getent hosts NAME`, /etc/resolv.conf, its node's DNS",
            ),
        ),
        unadvised=("probes",),
    )


def _refused(facts: Facts, counting: Row) -> list[Row]:
    """Ranks that tried in vain to reach the store, as long as their logs last, and of which no line tells more."""
    tried = [one for one in _rows(facts, ("store_refused",)) if one["rank"] is not None]
    events = facts.case.events.filter(pl.col("rank").is_not_null())
    came = events.filter(pl.col("kind").cast(pl.String).is_in(list(_CAME)))["rank"].to_list()
    return [one for one in tried if one["rank"] not in {counting["rank"], *came}]


def _rows(facts: Facts, kinds: tuple[str, ...]) -> list[Row]:
    found = facts.case.events.filter(pl.col("kind").cast(pl.String).is_in(list(kinds)))
    return list(found.sort("log", "line").iter_rows(named=True))


def _speakers(facts: Facts, logs: set[int]) -> set[int]:
    """Ranks that speak in those logs, and in no other."""
    said: dict[bool, set[int]] = {True: set(), False: set()}
    for row in _rows(facts, ("last_said",)):
        rank = row["rank"] if row["rank"] is not None else fields_of(row).get("speaker")
        if isinstance(rank, int):
            said[row["log"] in logs].add(rank)
    return said[True] - said[False]


def _place(facts: Facts, logs: set[int]) -> Location | None:
    for row in _rows(facts, ("traceback",)):
        own = (place for place in frames(fields_of(row)) if not is_library(place))
        if row["log"] in logs and (found := location_of(next(own, None))) is not None:
            return found
    return None
