"""Torch's wrapper compared a call before it began, and one line of it has both sides.

The wrapper looks at the ranks in their order and stops at the first that differs: so those before it agree with the
writer. One rank against one other says what differs, and not who is out of line.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from rankandfile.model.column import Fields, Row
from rankandfile.model.diagnosis import Location, Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.activity import is_library
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.watchdog_reports import frames
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb
from rankandfile.recorder_names import BEFORE, RING

_Print = tuple[int | None, str | None, str | None, str | None]
"""Number, operation, sizes, dtype."""

_FEWEST, _TIMES = 3, 3
_OF_NUMBERS = ("skipped_collective", "extra_collective")
"""Of two that stand at different numbers, either may have made a call too many or too few."""


@finder(precedence=20, of="logs")
def fingerprints(facts: Facts, _: WaitEnd) -> Finding | None:
    kinds = pl.col("kind").cast(pl.String).is_in(["wrapper_mismatch", "wrapper_malformed"])
    rows = list(facts.case.events.filter(kinds).sort("log", "line").iter_rows(named=True))
    said, where = _said(rows)
    if not rows or not said:
        return None
    sides: dict[_Print, list[int]] = defaultdict(list)
    for rank, what in said.items():
        sides[what].append(rank)
    parts = sorted(sides.items(), key=lambda side: -len(side[1]))
    ids = tuple(dict.fromkeys(where.values()))[:4]
    told = ", and ".join(
        f"{ranks_words(sorted(ranks))} {verb(ranks, 'runs', 'run')} {_words(what)}"
        for what, ranks in parts[:3]
    )
    scope = "" if _of_job(rows) else " (ranks as their group counts them)"
    if len(parts) == 1:
        sentence = (
            f"Torch compared the calls before they began, and they differ: {told}{scope}; what the other side ran, the "
            "line does not tell."
        )
        return Finding(
            hang=True if facts.hung or facts.accounts.gave_up else None,
            cause="different_collective",
            confidence="supported",
            sentence=sentence,
            evidence=ids,
            location=_place(facts),
            missing=(_OTHER,),
        )
    few = sorted(rank for _, ranks in parts[1:] for rank in ranks)
    usual = parts[0][0]
    clear = len(parts[0][1]) >= max(_FEWEST, _TIMES * len(few))
    named = tuple(few) if clear and _of_job(rows) and _are_ranks(facts, few, said, rows) else ()
    cause = _cause(usual, parts[1][0])
    odd = f" {upper(ranks_words(few))} {verb(few, 'is', 'are')} out of line."
    unsaid = odd if clear else " Who of them is out of line, this does not tell."
    return Finding(
        # The check refuses the call at once: that anybody waited, it does not tell.
        hang=True if facts.hung or facts.accounts.gave_up else None,
        cause=cause,
        confidence="supported" if clear or cause not in _OF_NUMBERS else "hypothesis",
        sentence=f"Torch compared the calls before they began: {told}{scope}.{unsaid}",
        culprits=named,
        doing={rank: f"runs {_words(said[rank])}" for rank in named},
        location=_place(facts),
        evidence=ids,
        contradicted_by="dumps in which these ranks made the same call",
        alternatives=()
        if named
        else tuple(
            perhaps(
                cause,
                f"{upper(ranks_words(sorted(ranks)))} may be out of line, with {_words(what)}.",
                ranks,
                decided_by="the calls of both before this one, or what the other ranks run",
            )
            for what, ranks in parts[clear:2]
        ),
        missing=() if named else (_OTHER,),
    )


_OTHER = Missing(
    what="the calls of every rank before this one",
    how="the lines of all ranks' logs that say 'Detected mismatch', or "
    f"{RING}=2000 ({BEFORE}), which records calls",
)


def _said(rows: list[Row]) -> tuple[dict[int, _Print], dict[int, str]]:
    """What each rank runs, by its own word or by another's. Those before the one that differs agree with the writer."""
    said: dict[int, _Print] = {}
    where: dict[int, str] = {}

    def put(rank: int, what: _Print, row: Row) -> None:
        if rank not in said:
            said[rank], where[rank] = what, event_id(row["log"], row["line"])

    prints = [(row, (row["seq"], row["op"], *_sizes(fields_of(row), ""))) for row in rows]
    for row, own in prints:
        if row["group_rank"] is not None:
            put(row["group_rank"], own, row)
    for row, own in prints:
        fields = fields_of(row)
        if row["kind"] != "wrapper_mismatch":
            continue
        for peer in row["about"] or ():
            put(peer, (fields.get("peer_seq"), fields.get("peer_op"), *_sizes(fields, "peer_")), row)
            for before in range(min(peer, 4096)):
                put(before, own, row)
    return said, where


def _sizes(fields: Fields, prefix: str) -> tuple[str | None, str | None]:
    sizes, dtype = fields.get(f"{prefix}sizes"), fields.get(f"{prefix}dtype")
    return None if sizes is None else str(sizes), None if dtype is None else str(dtype).strip("[] ")


def _of_job(rows: list[Row]) -> bool:
    """The numbers are the job's, as far as any line tells: a prefix that says otherwise would show."""
    return all(row["rank"] is None or row["rank"] == row["group_rank"] for row in rows)


def _are_ranks(facts: Facts, few: list[int], said: dict[int, _Print], rows: list[Row]) -> bool:
    """Whether the group's numbers of these are the job's: the whole job is told of, or they say so themselves."""
    world = facts.case.world_size
    if world is not None:
        return set(said) == set(range(world))
    return set(few) <= {row["group_rank"] for row in rows}


def _place(facts: Facts) -> Location | None:
    """Where a writer called it, if its traceback says."""
    told = (pl.col("kind").cast(pl.String) == "traceback") & pl.col("text").str.contains(
        "mismatch between collectives"
    )
    for row in facts.case.events.filter(told).sort("log", "line").iter_rows(named=True):
        place = next((p for p in frames(fields_of(row)) if not is_library(p)), None)
        if place is not None:
            return location_of(place)
    return None


def _cause(usual: _Print, other: _Print) -> str:
    if None not in (usual[0], other[0]) and usual[0] != other[0]:
        # Another number is another place in the program: a call too few or too many before.
        return "skipped_collective" if (other[0] or 0) < (usual[0] or 0) else "extra_collective"
    if usual[1] != other[1]:
        return "different_collective"
    return "size_mismatch" if usual[2] != other[2] else "dtype_mismatch"


def _words(what: _Print) -> str:
    seq, op, sizes, dtype = what
    of = f" of [{sizes}]" if sizes is not None else ""
    return f"{(op or 'a call').lower()}{of}{f' {dtype}' if dtype else ''}" + (
        f" as number {seq}" if seq is not None else ""
    )
