"""Whom each member takes for the root of the collective that it waits in, where stacks show the arguments."""

from __future__ import annotations

from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import Pending


@heuristic(
    "named roots", "the root that a stack's arguments name is whom the rank takes for it", otherwise={}
)
def named_roots(facts: Facts, call: Pending) -> dict[int, tuple[int, ...]]:
    """Root -> the members that wait in the call and name it; only members that stand in this very call."""
    found: dict[tuple[str, int], list[int]] = {}
    for rank in call.waiting:
        stand, row = facts.hosts.get(rank), lookup.call_at(facts, rank, call.group, call.slot or 0)
        last = lookup.last_call(facts, rank, call.group)
        if stand is None or row is None or last is None or stand.died or stand.asked.root is None:
            continue
        if last["slot"] == call.slot and lookup.op_of(facts, row) == stand.asked.op:
            found.setdefault(stand.asked.root, []).append(rank)
    if len({how for how, _ in found}) != 1:
        return {}
    return {of: tuple(ranks) for (_, of), ranks in sorted(found.items())}
