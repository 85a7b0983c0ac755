"""Which collective a printed call belongs to: the debug server says it of matched ones only.

It writes both tables in one pass, and all calls of a collective in a row. Where it found the ranks to differ it
leaves the collective's number out of the calls; their order then tells, and the ranks that it expected.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from rankandfile.evidence.flight.table_rows import Called, Collective

_LOOK_AHEAD = 64
"""Collectives of one kind that are tried for a call: in a sound file the first one is right."""

_Signature = tuple[str, str, str]

_PEERS = re.compile(r":(send|recv) ([0-9]{1,7})(?:->|<-)[0-9]{1,7}$")


class Linked(NamedTuple):
    calls: list[Called]
    filled: int
    """Calls that only the table of collectives has: the table of calls was cut off."""
    doubtful: int
    """Sends and receives that are printed with the name of another rank's."""


def link(collectives: Sequence[Collective], calls: Sequence[Called], *, complete: bool) -> Linked:
    """The calls with their collectives. `complete`: all ranks answered, so that the expected ones are there."""
    ordered = sorted(collectives, key=lambda collective: collective.id)
    used: dict[int, set[int]] = {}
    linked: list[Called] = []
    doubtful = 0
    place = _Place(ordered, {call.collective_id for call in calls})
    for call in sorted(calls, key=lambda call: call.id):
        collective = place.of(call)
        if collective is not None:
            used.setdefault(collective.id, set()).add(call.rank)
        if _is_anothers(call, collective):
            doubtful += 1
        else:
            linked.append(replace(call, collective=collective))
    next_id = 1 + max((call.id for call in calls), default=-1)
    filled = _fill(ordered, used, next_id) if complete else []
    return Linked(linked + filled, len(filled), doubtful)


class _Place:
    """Follows the calls through the collectives."""

    def __init__(self, ordered: list[Collective], matched: set[int | None]) -> None:
        self._ordered = ordered
        self._ids = [collective.id for collective in ordered]
        self._open: dict[_Signature, list[int]] = defaultdict(list)
        for at, collective in enumerate(ordered):
            if collective.id not in matched:
                signature = (collective.group, collective.name, str(collective.input_sizes))
                self._open[signature].append(at)
        self._next = 0
        self._current: Collective | None = None
        self._signature: _Signature | None = None
        self._ranks: set[int] = set()

    def of(self, call: Called) -> Collective | None:
        if call.collective_id is not None:
            at = bisect_left(self._ids, call.collective_id)
            if at == len(self._ids) or self._ids[at] != call.collective_id:
                return None
            self._next = max(self._next, at + 1)
            self._current = self._signature = None
            return self._ordered[at]
        signature = (call.group, call.name, str(call.sizes))
        if signature != self._signature or call.rank in self._ranks or not _expects(self._current, call.rank):
            self._advance(signature, call.rank)
        self._ranks.add(call.rank)
        return self._current

    def _advance(self, signature: _Signature, rank: int) -> None:
        self._current, self._signature, self._ranks = None, signature, set()
        places = self._open.get(signature, [])
        begin = bisect_left(places, self._next)
        for at in places[begin : begin + _LOOK_AHEAD]:
            if _expects(self._ordered[at], rank):
                self._next = at + 1
                self._current = self._ordered[at]
                return


def _expects(collective: Collective | None, rank: int) -> bool:
    return collective is not None and rank in collective.expected and rank not in collective.missing


def _is_anothers(call: Called, collective: Collective | None) -> bool:
    """In a batch, the server prints the first rank's send under every rank."""
    match = _PEERS.search(call.name)
    if match is None or collective is None or call.rank in collective.others:
        return False
    members = sorted(collective.expected)
    own = int(match[2])
    return own >= len(members) or members[own] != call.rank


def _fill(ordered: list[Collective], used: dict[int, set[int]], next_id: int) -> list[Called]:
    """The calls that collectives without a full row of calls must have had."""
    filled: list[Called] = []
    for collective in ordered:
        for rank in sorted(collective.expected - collective.missing - used.get(collective.id, set())):
            number = next_id + len(filled)
            own = collective.others.get(rank, collective)
            filled.append(
                Called(number, collective.id, collective.group, rank, own.name, own.input_sizes, collective)
            )
    return filled
