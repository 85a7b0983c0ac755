"""Where the ranks that a chain of waits ends in took another path: who diverged from whom, at which call, and how.

In: the facts on calls and waits, and one end of the waits. Out: a `DivergencePoint` or, where nothing shows one, None.

The calls of the groups that wait for this end show it first. The whole programs of the ranks can show it earlier,
on another group; and where the groups show nothing (one call per step, sends and receives), they are all there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.waits.graph import WaitEnd

from .divergence_point import DivergencePoint, came_to, place_of
from .in_groups import in_groups
from .in_programs import earlier_in_programs, in_programs
from .lag_between_groups import lag_between_groups
from .of_other_groups import of_members
from .out_of_round import out_of_round
from .past_the_call import passed

if TYPE_CHECKING:
    from rankandfile.reason.facts import Facts


def find_divergence(facts: Facts, wait_end: WaitEnd) -> DivergencePoint | None:
    """What the facts say of the end of a wait; worked out for one that they have no say about."""
    if wait_end in facts.divergences:
        return facts.divergences[wait_end]
    return divergence_of(facts, wait_end)


def divergence_of(facts: WaitFacts, wait_end: WaitEnd) -> DivergencePoint | None:
    """None if all ranks concerned are on one path, as far as that can be seen."""
    found = _found(facts, wait_end)
    found = found and of_members(facts, found)
    if (
        found is None
        or found.slot is None
        or found.expected is None
        or found.past
        or found.against is not None
    ):
        return found
    # What is said of the normal side is said of those alone that have come there.
    there = came_to(facts, found.group, found.slot, found.normal)
    return replace(found, normal=there, behind=tuple(rank for rank in found.normal if rank not in there))


def _found(facts: WaitFacts, wait_end: WaitEnd) -> DivergencePoint | None:
    found = in_groups(facts, wait_end)
    if found is None or not found.confirmed:
        # What parts them at their last call alone comes after what has parted them in all rounds that are kept.
        lag = lag_between_groups(facts, wait_end)
        if lag is not None:
            return lag
    if found is not None:
        return out_of_round(facts, found) or earlier_in_programs(facts, found)
    found = in_programs(facts, wait_end) if wait_end.kind in ("cycle", "absent") else None
    return found or (_stands_past(facts, wait_end) if wait_end.kind == "absent" else None)


def _stands_past(facts: WaitFacts, wait_end: WaitEnd) -> DivergencePoint | None:
    """By the stacks: the calls alone show no more than that the ranks have not come to it."""
    found = passed(facts, wait_end)
    if found is None:
        return None
    stands = tuple(i for rank in found.ranks[:4] for i in facts.hosts[rank].evidence)
    culprits, normal = (found.mates, found.ranks) if found.left else (found.ranks, found.mates)
    return DivergencePoint(
        kind="extra" if found.left else "skipped",
        group=found.group,
        slot=found.slot,
        culprits=culprits,
        normal=normal,
        other=culprits,
        expected=None if found.left else found.due,
        came=found.due if found.left else None,
        length=1,
        confirmed=0,
        how="left" if found.left else "after",
        place=place_of(facts, found.due),
        stands=stands,
    )
