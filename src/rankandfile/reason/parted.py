"""Where the ranks of a root took different paths: who parted from whom, at which call, and how.

The calls of the root's own groups show it first. The whole programs of the ranks can show it earlier, on another
group; and where the groups show nothing (one call per step, sends and receives), they are all there is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from . import look
from .absence import absent_ranks
from .codepath import Relation, relation
from .departure import Kind
from .facts import Facts
from .loops import find_loop
from .paths import Path
from .programs import Parting as ProgramParting
from .waits import Root
from .whereabouts import passed
from .words import ordinal

_MOST_IN_CIRCLE = 48
_FEWEST_WITNESSES = 3


@dataclass(frozen=True)
class Parted:
    kind: Kind
    group: int
    slot: int | None
    culprits: tuple[int, ...]
    """Empty if nothing says which side departed."""
    normal: tuple[int, ...]
    """The ranks on the normal path, or on the first of two where that is open."""
    other: tuple[int, ...]
    expected: look.Row | None
    """The call of the normal path; of an earlier step, if only the past shows what is normal."""
    came: look.Row | None
    """The other side's call there."""
    length: int
    confirmed: int
    exact: bool = True
    how: Relation = "unknown"
    """Where the other side's call lies in the program, as against the expected one."""
    place: str | None = None
    stands: tuple[str, ...] = ()
    """The stacks that show it, where the calls do not."""
    past: bool = False
    """Only the ranks' own earlier steps show what is normal."""


def parted(facts: Facts, root: Root) -> Parted | None:
    """None if all ranks concerned are on one path, as far as that can be seen. Worked out once per root."""
    if root not in facts.parted:
        facts.parted[root] = _parted(facts, root)
    found: Parted | None = facts.parted[root]
    return found


def _parted(facts: Facts, root: Root) -> Parted | None:
    found = _in_groups(facts, root)
    if found is not None:
        return _earlier_in_programs(facts, found)
    found = _in_programs(facts, root) if root.kind in ("cycle", "absent") else None
    return found or (_stands_past(facts, root) if root.kind == "absent" else None)


def _in_groups(facts: Facts, root: Root) -> Parted | None:
    groups = {facts.waits.pending[i].group for i in root.pending} | set(root.groups)
    found: list[tuple[int, Path]] = []
    for group in sorted(groups):
        parting = facts.partings.get(group)
        departed = [p for p in parting.departed if p.departure] if parting else []
        if departed:
            found.append((group, min(departed, key=_slot)))
    if not found:
        return None
    group, path = min(found, key=lambda pair: (-len(facts.partings[pair[0]].normal.ranks), _slot(pair[1])))
    parting, departure = facts.partings[group], path.departure
    assert departure is not None
    same = [
        p for p in parting.departed
        if p.departure and (p.departure.slot, p.departure.kind) == (departure.slot, departure.kind)
    ]  # fmt: skip
    ranks = tuple(sorted(r for p in same for r in p.ranks))
    expected = _call(facts, parting.normal.ranks, group, departure.slot)
    came = _call(facts, path.ranks, group, departure.slot)
    result = Parted(
        kind=departure.kind,
        group=group,
        slot=departure.slot,
        culprits=() if parting.decided_by == "nothing" else ranks,
        normal=parting.normal.ranks,
        other=ranks,
        expected=expected,
        came=came,
        length=departure.length,
        confirmed=departure.confirmed,
        exact=departure.exact,
        place=_place(facts, group, departure.slot),
    )
    if parting.decided_by == "history" and _not_even_there(facts, result):
        result = replace(result, culprits=())
    result = _placed(facts, result) if departure.kind == "substituted" else result
    return replace(result, culprits=()) if _few_against_few(result) else result


def _few_against_few(found: Parted) -> bool:
    """Two ranks against one, in a call that nothing else explains: the two may be out of step with the one."""
    unexplained = found.kind == "substituted" and found.how != "left" and not found.confirmed
    return unexplained and len(found.normal) < _FEWEST_WITNESSES


def _not_even_there(facts: Facts, found: Parted) -> bool:
    """Whether the two sides asked for different things because they were at different places of the program.

    As many ranks on one side as on the other, and an unusual size on one: that is no witness against it if the two
    came to the call by different ways.
    """
    if found.kind != "argument" or found.expected is None or not found.other:
        return False
    parting = facts.programs.against(found.other[0], found.expected["rank"])
    return parting is not None and parting.expected != (found.expected["rank"], found.expected["record"])


def _placed(facts: Facts, found: Parted) -> Parted:
    """Tell what a call in place of another is, by where the two stand in the program."""
    if found.expected is None or found.came is None:
        return found
    before = _calls_before(facts, found.expected)
    stacks = list(dict.fromkeys(before["stack"].drop_nulls().reverse().head(256).to_list()))
    how = relation(facts.case, stacks, found.expected["stack"], found.came["stack"])
    known = found.came["site"] in set(before["site"].drop_nulls().to_list())
    if how in ("after", "left") and known:
        # The loop makes this call after the expected one, and has made it before: the expected one was left out.
        return replace(found, how="after", kind="skipped")
    if (
        how == "before"
        or (how == "end" and known)
        or (how in ("unknown", "after") and not known and found.came["group"] != found.expected["group"])
    ):
        kind: Kind = "extra" if how in ("before", "end") else found.kind
        return replace(found, how=how, kind=kind, group=int(found.came["group"]), slot=found.came["slot"])
    return replace(found, how=how)


def _calls_before(facts: Facts, row: look.Row) -> pl.DataFrame:
    return facts.working.of_rank(row["rank"]).filter(pl.col("record") < row["record"])


def _earlier_in_programs(facts: Facts, found: Parted) -> Parted:
    """Another group may show the departure earlier: a step left out shows first where its first call belongs."""
    if not found.culprits or found.kind == "argument" or found.expected is None:
        return found
    mate, rank = found.expected["rank"], found.culprits[0]
    parting = facts.programs.against(rank, mate)
    if parting is None or parting.expected is None or parting.departure.kind == "argument":
        return found
    if parting.expected[1] >= found.expected["record"]:
        return found
    sure = parting.departure.confirmed > 0 or parting.departure.kind == "substituted"
    if not sure:
        return found
    result = _from_program(facts, parting, found.culprits, found.normal)
    return replace(_placed(facts, result) if result.kind == "substituted" else result, other=found.other)


def _in_programs(facts: Facts, root: Root) -> Parted | None:
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
        return _placed(facts, found)
    return _gone_past(facts, root, found) if found.kind == "extra" and found.past else found


def _stands_past(facts: Facts, root: Root) -> Parted | None:
    """By the stacks: the calls alone show no more than that the ranks have not come to it."""
    found = passed(facts, root)
    if found is None:
        return None
    return Parted(
        kind="skipped",
        group=found.group,
        slot=found.slot,
        culprits=found.ranks,
        normal=found.mates,
        other=found.ranks,
        expected=found.due,
        came=None,
        length=1,
        confirmed=0,
        how="after",
        place=_place(facts, found.group, found.slot) if found.slot is not None else None,
        stands=tuple(i for rank in found.ranks[:4] for i in facts.hosts[rank].evidence),
    )


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
            _call(facts, call.waiting, call.group, call.slot)
            if call.slot is not None and set(found.culprits) <= set(call.lacking)
            else None
        )
        if row is None or found.came is None:
            continue
        before = _calls_before(facts, row)
        stacks = list(dict.fromkeys(before["stack"].drop_nulls().reverse().head(256)))
        how = relation(facts.case, stacks, row["stack"], found.came["stack"])
        if how in ("after", "left"):
            again = row["stack"] in stacks and found.came["site"] not in set(before["site"].drop_nulls())
            return replace(
                found, kind="skipped", how="left" if again else how, group=call.group, slot=call.slot,
                normal=call.waiting,
                expected=row, past=False, place=_place(facts, call.group, call.slot or 0),
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
        before = _calls_before(facts, came).filter(pl.col("group") == group)["slot"].max()
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
        place=_place(facts, group, slot) if slot is not None else None,
        past=parting.by == "past",
    )


def _slot(path: Path) -> int:
    return path.departure.slot if path.departure else 1 << 62


def _call(facts: Facts, ranks: tuple[int, ...], group: int, slot: int) -> look.Row | None:
    for rank in ranks:
        row = look.call_at(facts, rank, group, slot)
        if row is not None:
            return row
    return None


def _place(facts: Facts, group: int, slot: int) -> str | None:
    """'step 41 of this loop, after its 3rd all_reduce': where in the normal path's repetition it happened."""
    parting = facts.partings.get(group)
    if parting is None:
        return None
    track = parting.normal.track
    position = slot - track.first
    loop = find_loop(track.tokens[:position]) if position > 0 else None
    if loop is None or loop.period < 2 or position <= loop.start:
        return None
    within = (position - loop.start) % loop.period
    begins = position - within
    whole = track.first <= 1
    words = f"step {loop.step(position)} of this loop{'' if whole else ' as far as the rings reach back'}"
    if not within:
        return words + ", at its first call"
    op = facts.working.terms[int(track.terms[position - 1])].op
    made = track.terms[begins:position].tolist()
    number = sum(facts.working.terms[int(t)].op == op for t in made if t >= 0)
    return f"{words}, after its {ordinal(number)} {op}"
