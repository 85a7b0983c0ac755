"""Ranks without a whole dump whose stacks show them in a call that others of its group wait in.

In: the calls that ranks cannot get past, and where each rank's host is. Out: the same calls, with such ranks among
those that wait. It is asked only where the call lacks somebody or its members asked for different things: only there
is it explained without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.reason.divergence.code_paths import Stack, stack_of
from rankandfile.reason.ranks.host import Stand

from .graph import Pending


def seen_waiting(case: Case, pending: Sequence[Pending], hosts: Mapping[int, Stand]) -> list[Pending]:
    may_be_in: dict[int, list[int]] = {}
    for index, call in enumerate(pending):
        seen = ways_to_waits(case, hosts, call.unknown)
        ways = list(ways_to_waits(case, hosts, call.waiting).values()) if seen else []
        for rank, way in seen.items():
            if way in ways:
                may_be_in.setdefault(rank, []).append(index)
    found = list(pending)
    for rank, calls in may_be_in.items():
        call = found[calls[0]]
        # Of two calls that are made by one way, nothing tells which it is in.
        if len(calls) == 1 and (call.mismatched or call.lacking):
            found[calls[0]] = replace(
                call,
                waiting=tuple(sorted({*call.waiting, rank})),
                unknown=tuple(r for r in call.unknown if r != rank),
            )
    return found


def ways_to_waits(case: Case, hosts: Mapping[int, Stand], ranks: Iterable[int]) -> dict[int, Stack]:
    """Of those that stand still in a collective, the way through the program to it."""
    known: dict[int, Stack] = {}
    found: dict[int, Stack] = {}
    for rank in ranks:
        stand = hosts.get(rank)
        if stand is None or stand.activity != "collective" or stand.died or stand.moving or stand.running:
            continue
        if stand.stack not in known:
            known[stand.stack] = stack_of(case, stand.stack)
        if known[stand.stack]:
            found[rank] = known[stand.stack]
    return found
