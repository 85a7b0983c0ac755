"""A rank made a call on one group that its peers make, from the same place, on another."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from rankandfile.reason import lookup
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.divergence.point import DivergencePoint
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper

from . import shown

CAUSE = "group_mismatch"


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or not p.culprits:
        return None
    p = _made_elsewhere(facts, p) or p
    if p.came is None or p.came["site"] is None:
        return None
    elsewhere = _where_others_make_it(facts, p)
    if elsewhere is None:
        return None
    where = f", in {p.place}" if p.place else ""
    return Finding(
        cause=CAUSE,
        confidence="supported",
        sentence=(
            f"{upper(ranks_words(p.culprits))} made the {lookup.call_words(facts, p.came)} on group "
            f"{lookup.group_words(facts, int(p.came['group']))}; other ranks make it from there on groups such as "
            f"{lookup.group_words(facts, elsewhere)}{where}. {waiting_sentence(facts, wait_end, p.culprits)}"
        ).strip(),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, "made the call on another group"),
        divergence=shown.divergence(facts, p, "argument"),
        location=lookup.location_of(facts, p.came),
        evidence=shown.evidence(facts, p),
        contradicted_by="a branch on which the call belongs to that group",
        explains=len(wait_end.victims),
    )


def _made_elsewhere(facts: Facts, p: DivergencePoint) -> DivergencePoint | None:
    """The call that the culprit left out on this group, if it made it on another one at that point."""
    if p.kind != "skipped" or p.expected is None or p.expected["site"] is None or p.slot is None:
        return None
    rank = p.culprits[0]
    before = lookup.call_at(facts, rank, p.group, p.slot - 1)
    calls = facts.call_table.calls.filter(
        (pl.col("rank") == rank) & (pl.col("stack") == p.expected["stack"]) & (pl.col("group") != p.group)
    )
    calls = calls.filter(pl.col("record") > (before["record"] if before else -1))
    return replace(p, came=calls.row(0, named=True)) if calls.height else None


def _where_others_make_it(facts: Facts, p: DivergencePoint) -> int | None:
    """The group on which most ranks make the call of this site: another one, and never this."""
    assert p.came is not None
    calls = facts.call_table.calls.filter(
        (pl.col("site") == p.came["site"])
        & (pl.col("stack") == p.came["stack"])
        & pl.col("slot").is_not_null()
    )
    families = facts.membership.families
    here = families.get(int(p.came["group"]))
    others = calls.filter(~pl.col("rank").is_in(list(p.culprits)))
    used = {families.get(int(g), int(g)) for g in others["group"].unique()}
    if not used or here in used:
        return None
    return int(others["group"][0])
