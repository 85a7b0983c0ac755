"""Calls that pile up in flight: a rank makes more and more that another one does not come to.

Hosts of a job with devices run ahead of each other by hundreds of calls, and stay there. What only grows does not end
well: in memory that is never given back, or in the timeout of the oldest call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rankandfile.capture.sentinel.history import Call, History
from rankandfile.capture.sentinel.late import all_wait

#: Between two looks that count; how many of them, and by how many calls more from each to the next.
EVERY_S, LOOKS, MORE = 5.0, 4, 64
#: How long the oldest must have been open.
AGE_S = 10.0


class Pile(NamedTuple):
    ahead: int
    behind: int
    number: int
    """Of the oldest call that the one has made and the other not."""
    oldest: Call
    newest: Call
    more: int
    before: int
    """So many there were."""
    over_s: float
    """So long ago."""
    moves: bool
    """Who is behind has made calls meanwhile."""


class _Look(NamedTuple):
    at: float
    ahead: int
    behind: int
    more: int
    reached: int


class Piles:
    """Of one group; keeps from look to look what has been seen."""

    def __init__(self) -> None:
        self._looks: list[_Look] = []

    def look(self, histories: Mapping[int, History], now: float) -> Pile | None:
        """`histories`: of all members that can be seen here, by rank."""
        if self._looks and now - self._looks[-1].at < EVERY_S:
            return None
        ahead = max(histories, key=lambda rank: (histories[rank].last, -rank))
        behind = min(histories, key=lambda rank: (histories[rank].last, rank))
        reached = histories[behind].last
        look = _Look(now, ahead, behind, histories[ahead].last - reached, reached)
        before = self._looks[-1] if self._looks else look
        if (ahead, behind) != (before.ahead, before.behind) or look.more < before.more + MORE:
            self._looks = []
        self._looks = [*self._looks, look][-LOOKS:]
        if len(self._looks) < LOOKS:
            return None
        oldest, newest = histories[ahead].at(reached + 1), histories[ahead].at(histories[ahead].last)
        if oldest is None or newest is None or not (all_wait(oldest) and all_wait(newest)):
            return None
        if now - oldest.wall_ns / 1e9 < AGE_S:
            return None
        first = self._looks[0]
        return Pile(
            ahead, behind, reached + 1, oldest, newest, look.more, first.more, now - first.at,
            reached > first.reached,
        )  # fmt: skip
