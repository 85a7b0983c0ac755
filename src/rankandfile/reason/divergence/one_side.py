"""Paths whose ranks ask for one and the same thing in the call that cannot end, where others ask for another.

How those ways differ from each other before did no harm: between them nobody waits in vain. Replicas that serve, or
stages that draw their own data, take the ways of an `if` each in its own rounds, and which of them took one first may
look as if it were a round ahead.

    ranks 0-1  a b a b a b a
    ranks 4-5  c b a b a b a     a for c: the same call from another line
    ranks 2-3  a b c b a b x     x is what cannot end, and 0, 1, 4 and 5 are on one side of it
"""

from __future__ import annotations

from itertools import takewhile
from operator import eq

from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.waits.graph import WaitEnd

from .code_paths import Stack, stack_of
from .divergence_point import call_of
from .paths import GroupPaths, Path
from .track_difference import track_difference

Asked = tuple[int, int]

_MOST_PATHS = 48
"""Where each goes a way of its own, nothing is one side."""


def on_one_side(facts: WaitFacts, wait_end: WaitEnd, paths: GroupPaths) -> GroupPaths:
    """Of the largest side the path that comes nearest to the others' is the normal one, and its other paths are no
    divergence; as it was, where there are no two sides, or none of them has several paths."""
    if not 1 < len(paths.paths) <= _MOST_PATHS:
        return paths
    slots = {facts.waits.pending[i].slot for i in wait_end.pending if _of(facts, i) == paths.group}
    if len(slots) != 1 or (slot := slots.pop()) is None:
        return paths
    sides: dict[Asked, list[Path]] = {}
    for path in paths.paths:
        if (asked := _asked(facts, path, paths.group, slot)) is not None:
            sides.setdefault(asked, []).append(path)
    largest, *smaller = sorted(sides.values(), key=_size, reverse=True) or [[]]
    if len(largest) < 2 or (smaller and _size(smaller[0]) == _size(largest)):
        return paths
    rest = [path for path in paths.paths if path not in largest]
    stacks = [_stack(facts, path, paths.group, slot) for path in rest]
    near = [_shared(_stack(facts, path, paths.group, slot), stacks) for path in largest]
    _, _, one = max(
        zip(near, (len(path.ranks) for path in largest), largest, strict=True), key=lambda at: at[:2]
    )
    others = [Path(path.ranks, path.track, track_difference(one.track, path.track)) for path in rest]
    if not any(path.difference for path in others):
        return paths
    alike = tuple(sorted(rank for path in largest if path is not one for rank in path.ranks))
    return GroupPaths(paths.group, (Path(one.ranks, one.track, None), *others), "majority", alike)


def _shared(ours: Stack, theirs: list[Stack]) -> int:
    """How many outer frames a call has in common with those of the others, at most."""
    return max((sum(takewhile(bool, map(eq, ours, stack))) for stack in theirs), default=0)


def _stack(facts: WaitFacts, path: Path, group: int, slot: int) -> Stack:
    row = call_of(facts, path.ranks, group, slot)
    return stack_of(facts.case, row["stack"]) if row is not None else []


def _of(facts: WaitFacts, pending: int) -> int:
    return facts.waits.pending[pending].group


def _asked(facts: WaitFacts, path: Path, group: int, slot: int) -> Asked | None:
    """What its ranks ask for in the call, and from which line; None if they have not come to it."""
    row = call_of(facts, path.ranks, group, slot)
    return None if row is None or row["site"] is None else (row["terms"], row["site"])


def _size(side: list[Path]) -> int:
    return sum(len(path.ranks) for path in side)
