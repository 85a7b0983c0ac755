"""Where the ranks of a root took different paths: who parted from whom, at which call, and how.

The calls of the root's own groups show it first. The whole programs of the ranks can show it earlier, on another
group; and where the groups show nothing (one call per step, sends and receives), they are all there is.
"""

from __future__ import annotations

from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import Root

from .in_groups import in_groups
from .in_programs import earlier_in_programs, in_programs
from .past_the_call import passed
from .point import Parted, place_of


def parted(facts: Facts, root: Root) -> Parted | None:
    """None if all ranks concerned are on one path, as far as that can be seen. Worked out once per root."""
    if root not in facts.parted:
        facts.parted[root] = _parted(facts, root)
    found: Parted | None = facts.parted[root]
    return found


def _parted(facts: Facts, root: Root) -> Parted | None:
    found = in_groups(facts, root)
    if found is not None:
        return earlier_in_programs(facts, found)
    found = in_programs(facts, root) if root.kind in ("cycle", "absent") else None
    return found or (_stands_past(facts, root) if root.kind == "absent" else None)


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
        place=place_of(facts, found.group, found.slot) if found.slot is not None else None,
        stands=tuple(i for rank in found.ranks[:4] for i in facts.hosts[rank].evidence),
    )
