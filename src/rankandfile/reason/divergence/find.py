"""Where the ranks of a wait end took different paths: who diverged from whom, at which call, and how.

The calls of the wait end's own groups show it first. The whole programs of the ranks can show it earlier, on another
group; and where the groups show nothing (one call per step, sends and receives), they are all there is.
"""

from __future__ import annotations

from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import WaitEnd

from .in_groups import in_groups
from .in_programs import earlier_in_programs, in_programs
from .past_the_call import passed
from .point import DivergencePoint, place_of


def find_divergence(facts: Facts, wait_end: WaitEnd) -> DivergencePoint | None:
    """None if all ranks concerned are on one path, as far as that can be seen. Worked out once per wait end."""
    if wait_end not in facts.divergences:
        facts.divergences[wait_end] = _find(facts, wait_end)
    found: DivergencePoint | None = facts.divergences[wait_end]
    return found


def _find(facts: Facts, wait_end: WaitEnd) -> DivergencePoint | None:
    found = in_groups(facts, wait_end)
    if found is not None:
        return earlier_in_programs(facts, found)
    found = in_programs(facts, wait_end) if wait_end.kind in ("cycle", "absent") else None
    return found or (_stands_past(facts, wait_end) if wait_end.kind == "absent" else None)


def _stands_past(facts: Facts, wait_end: WaitEnd) -> DivergencePoint | None:
    """By the stacks: the calls alone show no more than that the ranks have not come to it."""
    found = passed(facts, wait_end)
    if found is None:
        return None
    return DivergencePoint(
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
        place=place_of(facts, found.group, found.slot) if found.slot is not None else None,
        stands=tuple(i for rank in found.ranks[:4] for i in facts.hosts[rank].evidence),
    )
