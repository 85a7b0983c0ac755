"""Ranks that do not get out of their interpreter, though nobody waits for them.

An interpreter at its end waits for each thread that is no daemon. Where one such thread waits without a time limit for
what another thread of its process is to give it, and there is no other of the program, it waits for ever.
"""

from __future__ import annotations

import re

import polars as pl
from msgspec import Struct

from rankandfile.model.diagnosis import Location
from rankandfile.model.snapshots import stack_id
from rankandfile.reason.ranks.activity import at, classify, is_library, places_of
from rankandfile.reason.verdict.finding import Finding

from .in_words import doing_words
from .kinds import kind_of
from .make_finding import make_finding
from .where_all_stand import WhereAllStand

#: What a condition, an event, a queue or a barrier of one process waits in, as a snapshot shows its arguments.
_NO_LIMIT = re.compile(r"(?m)^(?:\w+\.)*wait: timeout: None$")
#: The same as the program writes it, where its source was read.
_WRITTEN = re.compile(r"\.(?:get|wait|acquire)\(\s*\)")
_IN_THE_PROCESS = ("queue", "lock")
_DESTROYS = ("destroy_process_group", "_abort_process_group", "_shutdown_backend")


def left_running(of: WhereAllStand) -> Finding | None:
    """Nobody waits for a rank, and some do not get out of their interpreter: what still runs there keeps them."""
    leaving = {r: s for r, s in of.stands.items() if s.activity == "teardown" and kind_of(s) not in _DESTROYS}
    others = {r for r in of.waiting if r not in leaving} | set(of.elsewhere)
    ended = {rank for rank, end in of.facts.accounts.ends.items() if end.kind == "finished"}
    if not leaving or others or any(rank not in ended for rank in of.gone):
        return None
    kept = {rank: kept_by for rank in sorted(leaving) if (kept_by := _kept_by(of, rank)) is not None}
    for_ever = all(rank in kept and kept[rank].for_ever for rank in leaving)
    if not (of.stays or of.alike or (ended and not of.unseen)):
        # One look at all of a job that ends shows nothing; a thread that keeps one from its end does.
        leaving = {rank: stand for rank, stand in leaving.items() if rank in kept}
    if not leaving:
        return None
    named = tuple(sorted(leaving))
    doing = {
        rank: f"{stand.words}; {kept[rank].words}" if rank in kept else stand.words
        for rank, stand in leaving.items()
    }
    return make_finding(
        of,
        cause="teardown_only",
        confidence="supported" if of.stays or for_ever else "hypothesis",
        what=(
            f"{doing_words(doing)}. "
            + (
                "All others have ended well"
                if ended and not of.unseen
                else "No rank that was seen waits for another"
            )
        ),
        culprits=named,
        doing=doing,
        evidence=[
            *(i for stand in leaving.values() for i in stand.evidence),
            *(one.evidence for one in kept.values()),
        ],
        place=kept[named[0]].place if len(kept) == 1 else None,
        lasts=_FOR_EVER if for_ever else "",
    )


class _Kept(Struct, frozen=True):
    """By a thread."""

    words: str
    place: Location
    evidence: str
    for_ever: bool
    """It waits without a time limit, and nobody is left who could wake it."""


_FOR_EVER = (
    "it waits there without a time limit, and no other thread of the program is left that could wake it: it stays for "
    "ever"
)


def _kept_by(of: WhereAllStand, rank: int) -> _Kept | None:
    """The one thread with a function of the program that is still there: an interpreter ends after it."""
    case = of.facts.case
    rows = case.snapshots.filter(
        (pl.col("rank") == rank) & (pl.col("role") == "other") & (pl.col("shows") == "now")
    ).sort("ordinal")
    unlimited = _without_limit(of, rows)
    rows = rows.filter(pl.col("ordinal") == pl.col("ordinal").max())
    found = []
    for stack, _, places in places_of(rows["stack"].drop_nulls().unique().sort(), case.stacks, case.frames):
        doing = classify(places)
        if doing is None or is_library(places[doing.site]):
            continue
        mine = rows.filter(pl.col("stack") == stack)
        name, place = mine["thread_name"][0], places[doing.site]
        found.append(
            _Kept(
                f"its thread{f' {name}' if name else ''} is still there, {doing.phrase}",
                Location(file=place.file, line=place.line, function=place.function),
                stack_id(mine["file"][0], mine["line"][0]),
                doing.activity in _IN_THE_PROCESS
                and (at(place) in unlimited or _writes_no_limit(of, place.file, place.line)),
            )
        )
    return found[0] if len(found) == 1 else None


def _writes_no_limit(of: WhereAllStand, file: str, line: int) -> bool:
    return _WRITTEN.search(of.facts.code.lines.get((file, line), "")) is not None


def _without_limit(of: WhereAllStand, rows: pl.DataFrame) -> set[str]:
    """The program's lines on which a thread waits without a time limit, as some snapshot of it shows the arguments."""
    case = of.facts.case
    shown = (
        rows.filter(pl.col("locals").str.contains(_NO_LIMIT.pattern).fill_null(False))["stack"]
        .unique()
        .sort()
    )
    ways = (places for _, _, places in places_of(shown, case.stacks, case.frames))
    return {at(places[doing.site]) for places in ways if (doing := classify(places)) is not None}
