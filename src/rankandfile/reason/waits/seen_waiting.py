"""Ranks without a whole dump whose stacks show them in a call that others of its group wait in.

In: the calls that ranks cannot get past, and where each rank's host is. Out: the same calls, with such ranks among
those that wait. It is asked only where the call lacks somebody or its members asked for different things: only there
is it explained without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rankandfile.reason.ranks.host import Stand

from .graph import Pending


def seen_waiting(pending: Sequence[Pending], hosts: Mapping[int, Stand]) -> list[Pending]:
    may_be_in: dict[int, list[int]] = {}
    for index, call in enumerate(pending):
        for rank in call.unknown if call.mismatched or call.lacking else ():
            if any(stand_together(hosts, rank, mate) for mate in call.waiting):
                may_be_in.setdefault(rank, []).append(index)
    found = list(pending)
    for rank, calls in may_be_in.items():
        if len(calls) == 1:
            call = found[calls[0]]
            found[calls[0]] = replace(
                call,
                waiting=tuple(sorted({*call.waiting, rank})),
                unknown=tuple(r for r in call.unknown if r != rank),
            )
    return found


def stand_together(hosts: Mapping[int, Stand], rank: int, mate: int) -> bool:
    """Both wait in a collective, at the end of one way through the program."""
    one, other = hosts.get(rank), hosts.get(mate)
    if one is None or other is None or one.stack != other.stack:
        return False
    return all(s.activity == "collective" and not (s.died or s.moving or s.running) for s in (one, other))
