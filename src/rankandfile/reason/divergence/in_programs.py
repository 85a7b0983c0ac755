"""Where the whole programs of ranks show that they diverged: earlier than their groups do, or where those show none."""

from __future__ import annotations

import numpy as np
import polars as pl
from msgspec.structs import replace

from rankandfile.reason import lookup
from rankandfile.reason.calls.whole_programs.one_program import ProgramDivergence as ProgramDivergence
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.waits.graph import WaitEnd

from .code_paths import relation
from .divergence_point import (
    DivergencePoint,
    call_of,
    calls_before,
    own_group,
    place_of,
)
from .in_step import to_the_end
from .of_other_groups import is_no_mismatch
from .replaced_call import placed

_MOST_IN_CIRCLE = 48


def earlier_in_programs(facts: WaitFacts, found: DivergencePoint) -> DivergencePoint:
    """Another group may show the divergence earlier: a step left out shows first where its first call belongs."""
    if not found.culprits or found.kind == "argument" or found.expected is None:
        return found
    mate, rank = found.expected["rank"], found.culprits[0]
    if (by_its_like := _by_its_like(facts, found, rank)) is not None:
        return by_its_like
    diverged = facts.programs.against(rank, mate)
    if diverged is None or diverged.expected is None or diverged.difference.kind == "argument":
        return found
    if diverged.expected[1] >= found.expected["record"] or not _on_common_ground(facts, diverged, mate):
        return found
    if _owes_none(facts, diverged):
        return found
    if not diverged.difference.exact and _from_the_start(facts, diverged):
        return found
    if diverged.difference.kind != "substituted" and not _explains(facts, diverged, mate):
        return found
    result = from_program(facts, diverged, found.culprits, found.normal)
    result = placed(facts, result) if result.kind == "substituted" else result
    return found if is_no_mismatch(facts, result) else replace(result, other=found.other)


def _explains(facts: WaitFacts, diverged: ProgramDivergence, mate: int) -> bool:
    """Whether more calls fall into place by the calls that are too many, or too few, than there are of those; or all do
    until one of the two ends. Of 28 calls that make 7 others fit, no less has to be explained than before."""
    found = diverged.difference
    ours, theirs = (
        _from_there_on(facts, *one) for one in ((mate, diverged.expected), (diverged.rank, diverged.came))
    )
    return found.confirmed > (0 if to_the_end(found, 0, ours, theirs) else found.length)


def _from_there_on(facts: WaitFacts, rank: int, call: tuple[int, int] | None) -> int:
    """How many calls the rank has made, this one among them."""
    records = facts.programs.of(rank).records
    return 0 if call is None else len(records) - int(np.searchsorted(records, call[1]))


def _by_its_like(facts: WaitFacts, found: DivergencePoint, rank: int) -> DivergencePoint | None:
    """Whose call shows the divergence may have another part in the job, and come to it by ways of its own: ranks that
    ran this one's program show what was due before what it did instead."""
    if found.expected is None or found.came is None or facts.programs.mates(rank, [found.expected["rank"]]):
        return None
    diverged = facts.programs.diverges(rank, facts.case.ranks_seen)
    if diverged is None or diverged.expected is None or diverged.difference.kind != "substituted":
        return None
    mate = diverged.expected[0]
    if diverged.came != (rank, found.came["record"]) or not _on_common_ground(facts, diverged, mate):
        return None
    row = lookup.call_of_record(facts, *diverged.expected)
    if row is None or row["path"] is None:
        return None
    made = facts.call_table.of_group(row["group"]).filter(
        (pl.col("slot") == row["slot"]) & (pl.col("path") == row["path"])
    )
    like = tuple(sorted({*made["rank"].to_list()} & {*found.normal}))
    return placed(facts, from_program(facts, diverged, found.culprits, like)) if len(like) > 1 else None


def _from_the_start(facts: WaitFacts, diverged: ProgramDivergence) -> bool:
    """Their first calls of all differ already, and none is lost: the two have other parts in the job, and no one call
    sets them right."""
    rows = [lookup.call_of_record(facts, *call) for call in (diverged.expected, diverged.came) if call]
    return len(rows) > 1 and all(row is not None and row["slot"] == row["seq"] == 1 for row in rows)


def _on_common_ground(facts: WaitFacts, diverged: ProgramDivergence, mate: int) -> bool:
    """Whether both have a part in groups of the kind that the divergence is on: a call on a group that only one of them
    belongs to is no divergence of either."""
    for rank, call in ((mate, diverged.came), (diverged.rank, diverged.expected)):
        row = lookup.call_of_record(facts, *call) if call is not None else None
        if row is not None and not _belongs(facts, rank, row["group"]):
            return False
    return True


def _of_others_alone(facts: WaitFacts, diverged: ProgramDivergence) -> bool:
    """What the rank lacks is a call of its mates on a group of theirs, and it has no part in one of the kind."""
    if diverged.by != "peers" or diverged.expected is None:
        return False
    row = lookup.call_of_record(facts, *diverged.expected)
    return row is not None and not _belongs(facts, diverged.rank, row["group"])


def _owes_none(facts: WaitFacts, diverged: ProgramDivergence) -> bool:
    """The one call that the rank lacks is a mate's, on a group of the mate's own, or one of its own steps before; and
    in the rank's own group nobody has come further than it: there that call was not due. Groups that are alike, and
    rounds, are not all used alike."""
    if diverged.difference.kind != "skipped" or diverged.difference.length != 1 or diverged.expected is None:
        return False
    row = lookup.call_of_record(facts, *diverged.expected)
    if row is None or row["slot"] is None:
        return False
    own = own_group(facts, diverged.rank, row["group"])
    if own == row["group"] and diverged.by == "peers":
        return False
    last = dict(facts.call_table.of_group(own).group_by("rank").agg(pl.col("slot").max()).iter_rows())
    members = facts.membership.members[own]
    return {*members} <= last.keys() and max(last[rank] for rank in members) == last.get(diverged.rank)


def _belongs(facts: WaitFacts, rank: int, group: int) -> bool:
    return rank in facts.membership.members[own_group(facts, rank, group)]


def in_programs(facts: WaitFacts, wait_end: WaitEnd) -> DivergencePoint | None:
    """By all calls of the ranks of this end, on whatever group, held against those of their like."""
    ranks = list(wait_end.ranks)[:_MOST_IN_CIRCLE]
    everyone = facts.case.ranks_seen
    told = {r: p for r in ranks if (p := facts.programs.diverges(r, everyone)) is not None}
    divergences = {r: p for r, p in told.items() if not (_of_others_alone(facts, p) or _owes_none(facts, p))}
    if wait_end.kind == "absent":
        # It waits for nobody: only a call that it went past counts, confirmed by what it did after.
        divergences = {
            r: p for r, p in divergences.items() if p.difference.kind == "skipped" and p.difference.confirmed
        }
    if not divergences or (wait_end.kind == "cycle" and len(divergences) == len(ranks)):
        return None
    first = max(divergences.values(), key=lambda p: p.difference.confirmed)
    culprits = tuple(sorted(r for r, p in divergences.items() if p.difference.kind == first.difference.kind))
    normal = tuple(r for r in (*wait_end.ranks, *wait_end.victims) if r not in culprits)
    found = from_program(facts, first, culprits, tuple(sorted(normal)))
    if wait_end.kind == "cycle" and _may_be_theirs(facts, wait_end, culprits):
        return None
    if found.kind == "substituted":
        found = placed(facts, found)
        return None if is_no_mismatch(facts, found) else found
    return _gone_past(facts, wait_end, found) if found.kind == "extra" and found.past else found


def _may_be_theirs(facts: WaitFacts, wait_end: WaitEnd, culprits: tuple[int, ...]) -> bool:
    """What the ranks of the circle did that left no whole dump is not known: they may have gone the culprits' way, or
    be the ones that diverged. Then, those who saw the culprits diverge must be more than both together."""
    unseen = set(wait_end.ranks) & set(absent_ranks(facts))
    if not unseen:
        return False
    mates = facts.programs.mates(culprits[0], facts.case.ranks_seen)
    return sum(diverged is not None for diverged in mates.values()) <= len(culprits) + len(unseen)


def _gone_past(facts: WaitFacts, wait_end: WaitEnd, found: DivergencePoint) -> DivergencePoint:
    """What is more than in the rank's own past may be what comes after a call that others still wait in: then that
    call was left out."""
    for index in wait_end.pending:
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
            again = row["stack"] in stacks and found.came["path"] not in set(before["path"].drop_nulls())
            return replace(
                found, kind="skipped", how="left" if again else how, group=call.group, slot=call.slot,
                normal=call.waiting,
                expected=row, past=False, place=place_of(facts, row, found.came),
            )  # fmt: skip
    return found


def from_program(
    facts: WaitFacts, diverged: ProgramDivergence, culprits: tuple[int, ...], normal: tuple[int, ...]
) -> DivergencePoint:
    expected = lookup.call_of_record(facts, *diverged.expected) if diverged.expected else None
    came = lookup.call_of_record(facts, *diverged.came) if diverged.came else None
    shown = (came or expected) if diverged.difference.kind == "extra" else (expected or came)
    group = int(shown["group"]) if shown else 0
    slot = shown["slot"] if shown else None
    if diverged.by == "past" and shown is expected and expected and came and slot is not None:
        # The call of an earlier step shows what was due; due was the next one on its group.
        before = calls_before(facts, came).filter(pl.col("group") == group)["slot"].max()
        slot = int(before) + 1 if isinstance(before, int) else None
    elif diverged.by == "peers" and shown is expected and expected and slot is not None:
        # A mate's group may be another one of the family: the rank's own group is where the call is missing.
        group = own_group(facts, diverged.rank, group)
        here = call_of(facts, normal, group, slot)
        expected = here if here is not None and here["path"] == expected["path"] else expected
    return DivergencePoint(
        kind=diverged.difference.kind,
        group=group,
        slot=slot,
        culprits=culprits,
        normal=normal,
        other=culprits,
        expected=expected,
        came=came,
        length=diverged.difference.length,
        confirmed=diverged.difference.confirmed,
        again=diverged.difference.again,
        exact=diverged.difference.exact or diverged.by == "past",
        # A call of an earlier step is not the one that was due now.
        place=None
        if diverged.by == "past" and shown is expected
        else place_of(facts, shown, came if shown is expected else expected),
        past=diverged.by == "past",
    )
