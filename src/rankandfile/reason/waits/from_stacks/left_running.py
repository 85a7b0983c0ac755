"""Ranks that do not get out of their interpreter, though nobody waits for them."""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Location
from rankandfile.reason.ranks.activity import classify, is_library, places_of
from rankandfile.reason.verdict.finding import Finding

from .in_words import doing_words
from .kinds import kind_of
from .make_finding import make_finding
from .where_all_stand import WhereAllStand

_DESTROYS = ("destroy_process_group", "_abort_process_group", "_shutdown_backend")


def left_running(of: WhereAllStand) -> Finding | None:
    """Nobody waits for a rank, and some do not get out of their interpreter: what still runs there keeps them."""
    leaving = {r: s for r, s in of.stands.items() if s.activity == "teardown" and kind_of(s) not in _DESTROYS}
    others = {r for r in of.waiting if r not in leaving} | set(of.elsewhere)
    ended = {rank for rank, end in of.facts.accounts.ends.items() if end.kind == "finished"}
    if not leaving or others or any(rank not in ended for rank in of.gone):
        return None
    kept = {rank: kept_by for rank in sorted(leaving) if (kept_by := _kept_by(of, rank)) is not None}
    if not (of.stays or of.alike or (ended and not of.unseen)):
        # One look at all of a job that ends shows nothing; a thread that keeps one from its end does.
        leaving = {rank: stand for rank, stand in leaving.items() if rank in kept}
    if not leaving:
        return None
    named = tuple(sorted(leaving))
    doing = {
        rank: f"{stand.words}; {kept[rank][0]}" if rank in kept else stand.words
        for rank, stand in leaving.items()
    }
    return make_finding(
        of,
        cause="teardown_only",
        confidence="supported" if of.stays else "hypothesis",
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
        evidence=[i for stand in leaving.values() for i in stand.evidence],
        place=kept[named[0]][1] if len(kept) == 1 else None,
    )


def _kept_by(of: WhereAllStand, rank: int) -> tuple[str, Location] | None:
    """The one thread with a function of the program that is still there: an interpreter ends after it."""
    case = of.facts.case
    rows = case.snapshots.filter(
        (pl.col("rank") == rank) & (pl.col("role") == "other") & (pl.col("shows") == "now")
    ).sort("ordinal")
    rows = rows.filter(pl.col("ordinal") == pl.col("ordinal").max())
    found = []
    for stack, _, places in places_of(rows["stack"].drop_nulls().unique().sort(), case.stacks, case.frames):
        doing = classify(places)
        if doing is None or is_library(places[doing.site]):
            continue
        name = rows.filter(pl.col("stack") == stack)["thread_name"][0]
        place = places[doing.site]
        told = f"its thread{f' {name}' if name else ''} is still there, {doing.phrase}"
        found.append((told, Location(file=place.file, line=place.line, function=place.function)))
    return found[0] if len(found) == 1 else None
