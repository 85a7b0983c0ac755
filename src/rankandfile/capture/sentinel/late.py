"""Which rank falls behind: at the same call of the program the others wait for it, longer than they used to.

A rank that is always the last, or that is late now and then, is how many healthy jobs are. So a place is held against
its own past: only where one and the same rank comes last nearly each time, and by several times what was usual there,
for half a minute at least, is it told. It moves: it is slow, and not stuck.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from rankandfile.capture.sentinel.history import Call, History
from rankandfile.reason.calls.contracts import contract_of

#: A window is as long as both; so many of them are what was usual, and so many must be unlike it, one after the other.
WINDOW_S, WINDOW_CALLS, USUAL, UNLIKE = 10.0, 20, 3, 3
#: In each of them one rank is the last so often; the others wait for it so long, that part of the time from one call to
#: the next, and so many times what was usual.
SHARE, LATE_S, PART, TIMES = 0.8, 0.2, 0.25, 4.0
#: What counts as usual at least, in seconds.
LEAST_S = 0.02
#: Calls of a group that are looked at each time; places that are remembered of a group.
MOST_CALLS, MOST_PLACES = 256, 256


class Late(NamedTuple):
    """A rank that others wait for at a call, more than they used to."""

    rank: int
    call: Call
    number: int
    """Of the newest one."""
    late_s: float
    """For so long, lately, each time."""
    every_s: float
    """From one such call to the next."""
    before_s: float
    since: float
    over: bool = False
    """It keeps up again."""


class _Window(NamedTuple):
    begin: float
    every_s: float
    last: Mapping[int, float]
    """Rank -> in which part of the calls it came last."""
    late: Mapping[int, float]
    """Rank -> by how much it came last, as the median over all calls."""


@dataclass
class _Place:
    """One call of the program, as all ranks make it."""

    usual: list[_Window] = field(default_factory=list)
    newest: list[_Window] = field(default_factory=list)
    begin: float = 0.0
    came: list[tuple[int, float]] = field(default_factory=list)
    """Of the window that is not full yet: who was last, and by how much."""
    since: float = 0.0
    told: int | None = None

    def add(self, rank: int, late_s: float, wall: float) -> bool:
        """Whether a window is full with it."""
        self.begin = self.begin or wall
        self.came.append((rank, late_s))
        if len(self.came) < WINDOW_CALLS or wall - self.begin < WINDOW_S:
            return False
        ranks = {one for one, _ in self.came}
        full = _Window(
            self.begin,
            (wall - self.begin) / (len(self.came) - 1),
            {one: sum(who == one for who, _ in self.came) / len(self.came) for one in ranks},
            {one: median(late if who == one else 0.0 for who, late in self.came) for one in ranks},
        )
        self.begin, self.came = 0.0, []
        if len(self.usual) < USUAL:
            self.usual.append(full)
        else:
            self.newest = [*self.newest, full][-UNLIKE:]
        return True

    def before_s(self, rank: int) -> float:
        return max(median(one.late.get(rank, 0.0) for one in self.usual), LEAST_S)

    def unlike(self, rank: int, window: _Window) -> bool:
        late = window.late.get(rank, 0.0)
        return (
            window.last.get(rank, 0.0) >= SHARE
            and late >= max(LATE_S, PART * window.every_s)
            and late >= TIMES * self.before_s(rank)
        )

    def late(self) -> int | None:
        """Who is, in all of the newest windows."""
        if len(self.newest) < UNLIKE:
            return None
        rank = max(self.newest[-1].last, key=lambda one: self.newest[-1].last[one])
        return rank if all(self.unlike(rank, one) for one in self.newest) else None


class Arrivals:
    """Of one group; keeps from look to look what has been seen."""

    def __init__(self) -> None:
        self._at = 0
        self._places: dict[tuple[int, int], _Place] = {}

    def look(self, histories: Mapping[int, History]) -> list[Late]:
        """`histories`: of all members that can be seen here, by rank."""
        end = min(one.last for one in histories.values())
        start = max(self._at + 1, end - MOST_CALLS + 1, *(one.first for one in histories.values()))
        self._at = max(self._at, end)
        found: list[Late] = []
        for number in range(start, end + 1):
            calls = {rank: call for rank, one in histories.items() if (call := one.at(number)) is not None}
            first = calls[min(calls)]
            if not first.asked or first.captured or not all_wait(first):
                continue
            key = first.asked, first.path
            if key not in self._places and len(self._places) >= MOST_PLACES:
                continue
            ordered = sorted((call.wall_ns, rank) for rank, call in calls.items())
            (before, _), (wall, rank) = ordered[-2:]
            place = self._places.setdefault(key, _Place())
            if place.add(rank, (wall - before) / 1e9, wall / 1e9):
                found += _told(place, number, calls)
        return found


def _told(place: _Place, number: int, calls: Mapping[int, Call]) -> list[Late]:
    if not place.newest:
        return []
    newest, rank = place.newest[-1], place.late()

    def told(who: int, over: bool) -> Late:
        late = newest.late.get(who, 0.0)
        return Late(
            who, calls[who], number, late, newest.every_s, place.before_s(who), place.since, over
        )  # fmt: skip

    if place.told is None and rank is not None:
        place.told, place.since = rank, place.newest[0].begin
        return [told(rank, False)]
    if place.told is not None and not any(place.unlike(place.told, one) for one in place.newest[-2:]):
        who, place.told = place.told, None
        return [told(who, True)]
    return []


def all_wait(call: Call) -> bool:
    """Nobody gets past such a call before all have come."""
    return contract_of(call.words.partition(" ")[0]).early == "nobody"
