"""Ranks that wait in one line, each called there from elsewhere: the frames that tell them apart.

A wrapper around all sends and receives, or around every wait, is the same line whoever stands in it. What differs is
who called it: `in wire.py:9, called in forward_all, schedule.py:30`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import polars as pl

from rankandfile.model.case import Case

from .activity import CodePlace, at, is_library, places_of, short_function, way

#: More ways into one line than these are no cohorts: each rank is in a round of its own.
_MOST_WAYS = 4


def callers(case: Case, alike: Mapping[int, str]) -> dict[int, str]:
    """By stack, from where it was called; only of those that are alike and were called from different places.

    `alike` has, by stack, what is said of it so far.
    """
    together: dict[str, list[int]] = defaultdict(list)
    for stack, words in alike.items():
        together[words].append(stack)
    several = [stack for stacks in together.values() if len(stacks) > 1 for stack in stacks]
    if not several:
        return {}
    wanted = pl.Series("stack", several, dtype=pl.UInt32)
    ways = {
        stack: tuple(place for place in way(places) if not is_library(place))
        for stack, _, places in places_of(wanted, case.stacks, case.frames)
    }
    found: dict[int, str] = {}
    for stacks in together.values():
        if 1 < len({ways.get(stack, ()) for stack in stacks}) <= _MOST_WAYS:
            found |= _unlike({stack: ways.get(stack, ()) for stack in stacks})
    return found


def _unlike(ways: dict[int, tuple[CodePlace, ...]]) -> dict[int, str]:
    """The innermost frame by which they differ, each its own; nothing where one of them has no such frame."""
    depth = 0
    while all(len(places) > depth for places in ways.values()):
        if len({(places[depth].file, places[depth].line) for places in ways.values()}) > 1:
            return {
                stack: f"called in {short_function(places[depth].function)}, {at(places[depth])}"
                for stack, places in ways.items()
            }
        depth += 1
    return {}
