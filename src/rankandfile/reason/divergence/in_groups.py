"""Where the calls of a root's own groups show that ranks parted."""

from __future__ import annotations

from dataclasses import replace

from rankandfile.reason import lookup as look
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import Root

from .by_place import placed
from .paths import Path
from .point import Parted, call_of, place_of
from .track_difference import Kind

_FEWEST_WITNESSES = 3


def in_groups(facts: Facts, root: Root) -> Parted | None:
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
    expected = call_of(facts, parting.normal.ranks, group, departure.slot)
    came = call_of(facts, path.ranks, group, departure.slot)
    kind: Kind = departure.kind
    if kind == "argument" and expected and came and look.op_of(facts, expected) != look.op_of(facts, came):
        # One line that makes several operations, as a helper for all of them does.
        kind = "substituted"
    result = Parted(
        kind=kind,
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
        place=place_of(facts, group, departure.slot),
    )
    if parting.decided_by == "history" and _not_even_there(facts, result):
        result = replace(result, culprits=())
    result = placed(facts, result) if kind == "substituted" else result
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


def _slot(path: Path) -> int:
    return path.departure.slot if path.departure else 1 << 62
