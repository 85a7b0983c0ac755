"""Whom each member takes for the root of a collective, where stacks show the arguments.

A member that waits in the call stands in it. One that is done with it, and is in a later one that the same line made in
the same row of calls, took the same rank for the root: unless such a row is long enough to have each member's turn. Of
one that is done with it, and is still in the function that handed the root over, that function's variable tells.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import Pending

from .kept_roots import kept_roots


def recorded_roots(facts: Facts, call: Pending) -> dict[int, tuple[int, ...]]:
    """Root -> the members that took it for the root, of one call that all of them made from one place; nothing where a
    member's record is not there, or does not keep it."""
    rows = [_at(facts, call, rank) for rank in facts.membership.members[call.group]]
    told = [row for row in rows if row is not None and row["root"] is not None]
    if len(told) < len(rows) or len({row["path"] for row in told}) != 1 or told[0]["path"] is None:
        return {}
    return {
        root: tuple(row["rank"] for row in told if row["root"] == root)
        for root in sorted({row["root"] for row in told})
    }


@heuristic(
    "named roots", "the root that a stack's arguments name is whom the rank takes for it", otherwise={}
)
def named_roots(facts: Facts, call: Pending) -> dict[int, tuple[int, ...]]:
    """Root -> the members that name it; by its global rank."""
    members = facts.membership.members[call.group]
    found: dict[tuple[str, int], list[int]] = {}
    for rank in members:
        stand = facts.hosts.get(rank)
        if stand is None or stand.died or stand.asked.root is None:
            continue
        if _stands_in_it(facts, call, rank) or is_further_on(facts, call, rank):
            found.setdefault(stand.asked.root, []).append(rank)
    if len({how for how, _ in found}) != 1:
        return {}
    told = {rank: root for root, ranks in found.items() for rank in ranks}
    # Looked up only where it is asked for: where all name one root, there is nothing to tell.
    done = (row for r in members if r not in told and r not in call.waiting and (row := _at(facts, call, r)))
    how = next(how for how, _ in found)
    for rank, root in kept_roots(facts, {r: root for r, (_, root) in told.items()}, done).items():
        found.setdefault((how, root), []).append(rank)
    if any(how == "position" and of >= len(members) for how, of in found):
        return {}
    return {
        members[of] if how == "position" else of: tuple(sorted(ranks))
        for (how, of), ranks in sorted(found.items())
    }


def _stands_in_it(facts: Facts, call: Pending, rank: int) -> bool:
    if rank not in call.waiting:
        return False
    row, last = _at(facts, call, rank), lookup.last_call(facts, rank, call.group)
    if row is not None and last is not None:
        return last["slot"] == call.slot and _asks_for(facts, row, rank)
    # Its log says that it waits in the call; of its calls nothing is left.
    others = (_at(facts, call, other) for other in call.waiting)
    return last is None and any(other is not None and _asks_for(facts, other, rank) for other in others)


def is_further_on(facts: Facts, call: Pending, rank: int) -> bool:
    """It is done with the call, and stands in one that came of the same line since, with no other between."""
    row = _at(facts, call, rank) if rank not in call.waiting else None
    if row is None or row["path"] is None or not _asks_for(facts, row, rank):
        return False
    calls = facts.call_table.of_rank(rank).filter(pl.col("group") == call.group).sort("slot")
    since = calls.filter(pl.col("slot") >= call.slot)
    return since["path"].n_unique() == 1 and since.height > 1 and not _takes_turns(facts, calls, row)


def _takes_turns(facts: Facts, calls: pl.DataFrame, row: Row) -> bool:
    """Whether calls of this line come in rows of as many alike as the group has members: each may be root in turn."""
    rows = calls.with_columns(pl.col("path").rle_id().alias("nth")).filter(pl.col("path") == row["path"])
    longest = rows.group_by("nth", "terms").len()["len"].max()
    return isinstance(longest, int) and longest >= len(facts.membership.members[int(row["group"])])


def _asks_for(facts: Facts, row: Row, rank: int) -> bool:
    return lookup.op_of(facts, row) == facts.hosts[rank].asked.op


def _at(facts: Facts, call: Pending, rank: int) -> Row | None:
    return lookup.call_at(facts, rank, call.group, call.slot or 0)
