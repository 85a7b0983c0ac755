"""Where the whole programs of ranks show that they parted: earlier than their groups do, or where those show none."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from rankandfile.reason import lookup as look
from rankandfile.reason.calls.programs import Parting as ProgramParting
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.waits.graph import Root

from .by_place import placed
from .code_paths import relation
from .point import (
    Parted,
    call_of,
    calls_before,
    place_of,
    place_of_call,
)

_MOST_IN_CIRCLE = 48


def earlier_in_programs(facts: Facts, found: Parted) -> Parted:
    """Another group may show the departure earlier: a step left out shows first where its first call belongs."""
    if not found.culprits or found.kind == "argument" or found.expected is None:
        return found
    mate, rank = found.expected["rank"], found.culprits[0]
    parting = facts.programs.against(rank, mate)
    if parting is None or parting.expected is None or parting.departure.kind == "argument":
        return found
    if parting.expected[1] >= found.expected["record"] or not _on_common_ground(facts, parting, mate):
        return found
    sure = parting.departure.confirmed > 0 or parting.departure.kind == "substituted"
    if not sure:
        return found
    result = _from_program(facts, parting, found.culprits, found.normal)
    return replace(placed(facts, result) if result.kind == "substituted" else result, other=found.other)


def _on_common_ground(facts: Facts, parting: ProgramParting, mate: int) -> bool:
    """Whether both have a part in groups of the kind that the parting is on: a call on a group that only one of them
    belongs to is no departure of either."""
    for rank, call in ((mate, parting.came), (parting.rank, parting.expected)):
        row = look.call_of_record(facts, *call) if call is not None else None
        if row is not None and not _belongs(facts, rank, row["group"]):
            return False
    return True


def _belongs(facts: Facts, rank: int, group: int) -> bool:
    families, members = facts.membership.families, facts.membership.members
    return any(rank in members[like] for like, head in families.items() if head == families.get(group))


def in_programs(facts: Facts, root: Root) -> Parted | None:
    ranks = list(root.ranks)[:_MOST_IN_CIRCLE]
    everyone = facts.case.ranks_seen
    partings = {r: p for r in ranks if (p := facts.programs.departs(r, everyone)) is not None}
    if root.kind == "absent":
        # It waits for nobody: only a call that it went past counts, confirmed by what it did after.
        partings = {
            r: p for r, p in partings.items() if p.departure.kind == "skipped" and p.departure.confirmed
        }
    if not partings or (root.kind == "cycle" and len(partings) == len(ranks)):
        return None
    first = max(partings.values(), key=lambda p: p.departure.confirmed)
    culprits = tuple(sorted(r for r, p in partings.items() if p.departure.kind == first.departure.kind))
    normal = tuple(r for r in (*root.ranks, *root.victims) if r not in culprits)
    found = _from_program(facts, first, culprits, tuple(sorted(normal)))
    if root.kind == "cycle" and _may_be_theirs(facts, root, culprits):
        return None
    if found.kind == "substituted":
        return placed(facts, found)
    return _gone_past(facts, root, found) if found.kind == "extra" and found.past else found


def _may_be_theirs(facts: Facts, root: Root, culprits: tuple[int, ...]) -> bool:
    """What the ranks of the circle did that left no whole dump is not known: they may have gone the culprits' way, or
    be the ones that departed. Then, those who saw the culprits depart must be more than both together."""
    unseen = set(root.ranks) & set(absent_ranks(facts))
    if not unseen:
        return False
    mates = facts.programs.mates(culprits[0], facts.case.ranks_seen)
    return sum(parting is not None for parting in mates.values()) <= len(culprits) + len(unseen)


def _gone_past(facts: Facts, root: Root, found: Parted) -> Parted:
    """What is more than in the rank's own past may be what comes after a call that others still wait in: then that
    call was left out."""
    for index in root.pending:
        call = facts.waits.pending[index]
        row = (
            call_of(facts, call.waiting, call.group, call.slot)
            if call.slot is not None and set(found.culprits) <= set(call.lacking)
            else None
        )
        if row is None or found.came is None:
            continue
        before = calls_before(facts, row)
        stacks = list(dict.fromkeys(before["stack"].drop_nulls().reverse().head(256)))
        how = relation(facts.case, stacks, row["stack"], found.came["stack"])
        if how in ("after", "left"):
            again = row["stack"] in stacks and found.came["site"] not in set(before["site"].drop_nulls())
            return replace(
                found, kind="skipped", how="left" if again else how, group=call.group, slot=call.slot,
                normal=call.waiting,
                expected=row, past=False, place=place_of(facts, call.group, call.slot or 0),
            )  # fmt: skip
    return found


def _from_program(
    facts: Facts, parting: ProgramParting, culprits: tuple[int, ...], normal: tuple[int, ...]
) -> Parted:
    expected = look.call_of_record(facts, *parting.expected) if parting.expected else None
    came = look.call_of_record(facts, *parting.came) if parting.came else None
    shown = (came or expected) if parting.departure.kind == "extra" else (expected or came)
    group = int(shown["group"]) if shown else 0
    slot = shown["slot"] if shown else None
    if parting.by == "past" and shown is expected and expected and came and slot is not None:
        # The call of an earlier step shows what was due; due was the next one on its group.
        before = calls_before(facts, came).filter(pl.col("group") == group)["slot"].max()
        slot = int(before) + 1 if isinstance(before, int) else None
    return Parted(
        kind=parting.departure.kind,
        group=group,
        slot=slot,
        culprits=culprits,
        normal=normal,
        other=culprits,
        expected=expected,
        came=came,
        length=parting.departure.length,
        confirmed=parting.departure.confirmed,
        exact=parting.departure.exact or parting.by == "past",
        place=place_of(facts, group, slot) if slot is not None else _place(facts, parting, expected),
        past=parting.by == "past",
    )


def _place(facts: Facts, parting: ProgramParting, expected: look.Row | None) -> str | None:
    """Of a send or receive, which has no number: as the rank that made it counts its own steps."""
    return place_of_call(facts, expected) if expected is not None and parting.by == "peers" else None
