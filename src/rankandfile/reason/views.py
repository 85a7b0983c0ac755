"""The facts as tables, for `raf show`: waits, cohorts and divergences, one row each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.ranks import format_ranks, parse_ranks

from . import lookup
from .divergence.cohorts import Track, tracks
from .facts import Facts
from .waits.graph import Pending

_WAITS = [
    "ranks",
    "waits_for",
    "unknown",
    "still_busy",
    "group",
    "seq",
    "op",
    "site",
    "asks_for_different_things",
]
_COHORTS = ["group", "cohort", "ranks", "first_kept", "last", "calls", "last_call"]
DIVERGENCE_IN_BRIEF = ["group", "seq", "ranks", "call", "site", "place"]
_DIVERGENCES = [
    "verdict",
    "kind",
    "group",
    "seq",
    "exact",
    "ranks",
    "call",
    "site",
    "file",
    "line",
    "function",
    "place",
]


def waits_table(facts: Facts) -> pl.DataFrame:
    """One row per call that somebody cannot get past: who waits in it, and for whom."""
    rows = []
    for pending in facts.waits.pending:
        call = _call_of(facts, pending)
        rows.append(
            (
                format_ranks(pending.waiting),
                format_ranks(pending.lacking),
                format_ranks(pending.unknown),
                format_ranks(pending.busy + pending.behind),
                facts.case.group_label(pending.group),
                None if call is None else call["seq"],
                None if call is None else lookup.op_of(facts, call),
                None if call is None else lookup.place_words(facts.case, call["site"]).removeprefix(" at "),
                pending.mismatched,
            )
        )
    return pl.DataFrame(rows, schema=_WAITS, orient="row", infer_schema_length=None)


def _call_of(facts: Facts, pending: Pending) -> Row | None:
    if not pending.waiting:
        return None
    rank = pending.waiting[0]
    if pending.slot is not None:
        return lookup.call_at(facts, rank, pending.group, pending.slot)
    return None if pending.record is None else lookup.call_of_record(facts, rank, pending.record)


def cohorts_table(facts: Facts, groups: Iterable[int]) -> pl.DataFrame:
    """One row per cohort of each group: ranks that made the same calls, as far as their rings go back."""
    rows = []
    for group in groups:
        for number, track in enumerate(tracks(facts.call_table, group), 1):
            rows.append(
                (
                    facts.case.group_label(group),
                    number,
                    format_ranks(track.ranks),
                    track.first,
                    track.end - 1,
                    int((track.terms >= 0).sum()),
                    _last_call(facts, group, track),
                )
            )
    return pl.DataFrame(rows, schema=_COHORTS, orient="row", infer_schema_length=None)


def _last_call(facts: Facts, group: int, track: Track) -> str | None:
    call = lookup.last_call(facts, track.ranks[0], group)
    return None if call is None else lookup.call_words(facts, call)


def groups_that_diverged(facts: Facts) -> list[int]:
    """Groups whose ranks did not all make the same calls."""
    groups = facts.call_table.calls["group"].unique().sort()
    return [group for group in groups if len(tracks(facts.call_table, group)) > 1]


def divergence_table(diagnosis: Diagnosis) -> pl.DataFrame:
    """One row per cohort of each verdict's divergence, the best verdict first."""
    rows = []
    for number, verdict in enumerate(diagnosis.verdicts, 1):
        divergence = verdict.divergence
        if divergence is None:
            continue
        named = {one.rank for one in verdict.named}
        for cohort in divergence.cohorts:
            call = cohort.call
            # It tells the call that was to be made: those who made another one came to that by a way of their own.
            place = (
                None if call is not None and named.issuperset(parse_ranks(cohort.ranks)) else divergence.place
            )
            rows.append(
                (
                    number,
                    divergence.kind,
                    divergence.group,
                    divergence.seq,
                    divergence.exact,
                    cohort.ranks,
                    "no call here" if call is None else " ".join(filter(None, (call.op, call.detail))),
                    None if call is None or call.file is None else f"{PurePath(call.file).name}:{call.line}",
                    None if call is None else call.file,
                    None if call is None else call.line,
                    None if call is None else call.function,
                    place,
                )
            )
    return pl.DataFrame(rows, schema=_DIVERGENCES, orient="row", infer_schema_length=None)
