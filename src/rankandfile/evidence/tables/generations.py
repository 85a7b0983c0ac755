"""A group that was destroyed and made again under its name: each making counts from 1, and may have other members.

A process numbers its groups as it makes them, so that one name under two such numbers was made twice, if all calls of
the one were recorded before those of the other, and the other counts anew. (A group with a backend for each kind of
device has two numbers as well, and its calls alternate, or count on.) Ranks' makings are counted from the first. Of a
dump that has lost its oldest calls nobody can tell how many came before, nor of a rank that may have made no call in
one: what it has then is nobody else's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankandfile.evidence.tables.part import Integers, Part


class Making(NamedTuple):
    """Which making of a name a group of a dump is."""

    nth: int = 0
    most: int = 1
    """How often the name was made, by the dump that has it most often."""
    latest: bool = True
    """Of this dump: what its configuration says of the name, it says of this one."""
    own: bool = False
    """It is not known which of other ranks' makings this is."""

    @property
    def words(self) -> str:
        """What tells it from the one that has the name now."""
        return f" (making {self.nth + 1} of {self.most})" if self.nth + 1 < self.most and not self.own else ""


def makings(parts: Sequence[Part]) -> list[list[Making]]:
    """Per part, and per group of that part."""
    found = [_of_part(part) for part in parts]
    most: dict[tuple[str, str], int] = {}
    for part, of in zip(parts, found, strict=True):
        for name, one in zip(part.raw.groups, of, strict=True):
            if one.nth:
                most[name] = max(one.nth + 1, most.get(name, 0))
    if not most:
        return found
    began = {
        (part_at, at): int(part.column("created_ns")[_groups(part) == at].min())
        for part_at, part in enumerate(parts)
        for at, name in enumerate(part.raw.groups)
        if name in most
    }
    first: dict[tuple[tuple[str, str], int], int] = {}
    for (part_at, at), time in began.items():
        key = parts[part_at].raw.groups[at], found[part_at][at].nth
        first[key] = min(time, first.get(key, time))

    def settled(part_at: int, at: int, one: Making) -> Making:
        name = parts[part_at].raw.groups[at]
        if name not in most:
            return one
        next_began = first.get((name, one.nth + 1))
        missed_one = next_began is not None and began[part_at, at] >= next_began
        return one._replace(most=most[name], own=parts[part_at].wrapped or missed_one)

    return [[settled(part_at, at, one) for at, one in enumerate(of)] for part_at, of in enumerate(found)]


def _groups(part: Part) -> Integers:
    """Of each call, the dump's own number of its group."""
    return np.array([kind.group for kind in part.kinds])[part.kind_of_calls]


def _of_part(part: Part) -> list[Making]:
    names: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, name in enumerate(part.raw.groups):
        names[name].append(at)
    out = [Making()] * len(part.raw.groups)
    if len(names) == len(out):
        return out
    groups, records, seqs = _groups(part), part.column("record"), part.column("seq")
    for several in names.values():
        made = _in_order([(at, records[groups == at], seqs[groups == at]) for at in several])
        for at, nth in made.items():
            out[at] = Making(nth, latest=nth == max(made.values()))
    return out


_Calls = tuple[int, Integers, Integers]
"""A group, and its calls' records and numbers."""


def _in_order(calls: list[_Calls]) -> dict[int, int]:
    """Group -> which making it is; all are the first where anything speaks against that they were made anew."""
    calls.sort(key=lambda one: int(one[1].min()))
    for (_, before, _), (_, after, counts) in pairwise(calls):
        if before.max() >= after.min() or counts[after.argmin()] > 1:
            return {at: 0 for at, *_ in calls}
    return {at: nth for nth, (at, *_) in enumerate(calls)}
