"""Calls of several groups held against each other: what is no mismatch, and of whom it cannot be said.

Who is no member of a group, nor of one of its kind, has made none of its calls, and owes none.
"""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace

from rankandfile.model.column import Row
from rankandfile.reason import lookup
from rankandfile.reason.waits.facts import WaitFacts

from .divergence_point import DivergencePoint, own_group


def is_no_mismatch(facts: WaitFacts, p: DivergencePoint) -> bool:
    """A call on one group where one on another was due: both were made, each in its group, or the one that came was
    joined by all of its members. Rounds in which groups are used by turns look so."""
    if p.kind != "substituted" or p.came is None or p.expected is None:
        return False
    if p.came["group"] == p.expected["group"]:
        return False
    made_too = bool(p.culprits) and all(_has_ended(facts, rank, p.expected) for rank in p.culprits)
    return made_too or (p.past and _ended_for_all(facts, p.came))


def _has_ended(facts: WaitFacts, rank: int, due: Row) -> bool:
    """Whether the rank has ended, in its own group of the kind, the call of this number."""
    if due["slot"] is None:
        return False
    made = lookup.call_at(facts, rank, own_group(facts, rank, due["group"]), due["slot"])
    return made is not None and not made["open"] and made["terms"] == due["terms"]


def _ended_for_all(facts: WaitFacts, row: Row) -> bool:
    calls = facts.call_table.of_group(row["group"]).filter(pl.col("slot") == row["slot"])
    return {*calls["rank"]} >= {*facts.membership.members[row["group"]]} and not calls["open"].any()


def of_members(facts: WaitFacts, p: DivergencePoint) -> DivergencePoint:
    """The same, said of those alone that belong to the groups of the two calls, or to such as are alike."""
    if p.came is None or p.expected is None or p.came["group"] == p.expected["group"]:
        return p
    normal = _belonging(facts, p.normal, p.expected)
    if p.kind != "substituted":
        return replace(p, normal=normal)
    made = {*_belonging(facts, tuple(sorted({*p.culprits, *p.other})), p.came)}
    culprits, other = (tuple(r for r in side if r in made) for side in (p.culprits, p.other))
    return replace(p, normal=normal, culprits=culprits, other=other or p.other)


def _belonging(facts: WaitFacts, ranks: tuple[int, ...], row: Row) -> tuple[int, ...]:
    """All of them where none does: then something else tells that it is one of theirs."""
    members = facts.membership.members
    return tuple(r for r in ranks if r in members[own_group(facts, r, row["group"])]) or ranks
