"""Who diverged from whom, at which call, and how."""

from __future__ import annotations

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.column import Row
from rankandfile.reason import lookup
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.words import ordinal

from .code_paths import Relation, diverging_lines
from .track_difference import Kind


class DivergencePoint(Struct, frozen=True):
    kind: Kind
    group: int
    slot: int | None
    culprits: tuple[int, ...]
    """Empty if nothing says which side diverged."""
    normal: tuple[int, ...]
    """The ranks on the normal path, or on the first of two where that is open."""
    other: tuple[int, ...]
    expected: Row | None
    """The call of the normal path; of an earlier step, if only the past shows what is normal."""
    came: Row | None
    """The other side's call there."""
    length: int
    confirmed: int
    exact: bool = True
    again: int = 0
    """How often the same happened once more after it."""
    how: Relation = "unknown"
    """Where the other side's call lies in the program, as against the expected one."""
    place: str | None = None
    stands: tuple[str, ...] = ()
    """The stacks that show it, where the calls do not."""
    usual: tuple[int, ...] = ()
    """The side that did there as the rounds before; empty if neither did, or both."""
    past: bool = False
    """Only the ranks' own earlier steps show what is normal."""
    against: int | None = None
    """The group by whose calls it shows that they have been behind or ahead on this one in all that is kept."""
    by_stacks: bool = False
    """No frames are recorded: that it is one call of which they ask different things, the stacks tell."""
    behind: tuple[int, ...] = ()
    """Those that went the normal way as far as they are, and have not come to the call yet."""
    alike: tuple[int, ...] = ()
    """Those that wait in the normal call too, and came to it in another way: they bear witness of it."""
    either: bool = False
    """They are as many calls ahead or behind on that one, by the calls of this."""


def call_of(facts: WaitFacts, ranks: tuple[int, ...], group: int, slot: int) -> Row | None:
    """The call of this slot, of the first of the ranks that has it."""
    for rank in ranks:
        row = lookup.call_at(facts, rank, group, slot)
        if row is not None:
            return row
    return None


def came_to(facts: WaitFacts, group: int, slot: int, ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Those of the ranks whose own records of the group do not end before this slot; all where those of each do.

    Who has not come to it goes the way of the others as far as it went, and bears no witness of which is right there.
    Of whom nothing is recorded there, something else told that it is one of them.
    """
    last = facts.call_table.of_group(group).group_by("rank").agg(pl.col("slot").max())
    behind = {*last.filter(pl.col("slot") < slot)["rank"].to_list()}
    return tuple(rank for rank in ranks if rank not in behind) or ranks


def own_group(facts: WaitFacts, rank: int, group: int) -> int:
    """The group of the same family that the rank belongs to; the group itself where there is none."""
    members, families = facts.membership.members, facts.programs.families
    if rank in members[group]:
        return group
    head = families.get(group, group)
    own = (g for g, ranks in members.items() if rank in ranks and families.get(g, g) == head)
    return next(own, group)


def calls_before(facts: WaitFacts, row: Row) -> pl.DataFrame:
    """All calls that the rank of this one made before it."""
    return facts.call_table.of_rank(row["rank"]).filter(pl.col("record") < row["record"])


def who_made_it(facts: WaitFacts, p: DivergencePoint) -> DivergencePoint:
    """Who has not come to the call asked for nothing in it: the same, of those alone that have a record of it."""
    calls = facts.call_table.of_group(p.group).filter(pl.col("slot") == p.slot)
    made = {*calls["rank"].to_list()}
    one, other = (tuple(rank for rank in side if rank in made) for side in (p.normal, p.other))
    return replace(p, normal=one, other=other)


def made_before(facts: WaitFacts, p: DivergencePoint) -> bool:
    """Whether the calls that are too many are those that the rank had made right before: made once more."""
    if p.kind != "extra" or p.came is None or p.slot is None:
        return False
    calls = facts.call_table.of_group(p.group).filter(pl.col("rank") == p.came["rank"]).sort("slot")
    near = calls.filter(pl.col("slot").is_between(p.slot - p.length, p.slot + p.length - 1))[
        "token"
    ].to_list()
    return len(near) == 2 * p.length and near[: p.length] == near[p.length :]


def place_of(facts: WaitFacts, shown: Row | None, beside: Row | None = None) -> str | None:
    """'the 41st call by this path (train.py:88)': which one of its rank's calls this is, and where on the path it parts
    from the way to the call beside it. A cycle of calls need be no step of the job; how often a path was taken is so.
    """
    if shown is None:
        return None
    calls = calls_before(facts, shown)
    whole = not calls.height or calls["record"][0] == 0
    traced = shown["path"] is not None
    alike = [
        pl.col(column) == shown[column] for column in (("path", "kind") if traced else ("group", "terms"))
    ]
    nth = f"{'' if whole else 'at least '}the {ordinal(calls.filter(*alike).height + 1)}"
    if not traced:
        return f"{nth} {lookup.op_of(facts, shown)} of its kind in the group"
    ways = diverging_lines(facts.case, shown["stack"], beside["stack"]) if beside is not None else None
    at = f" ({lookup.short_file(ways.file)}:{ways.lines[0]})" if ways is not None else ""
    return f"{nth} call by this path{at}"
