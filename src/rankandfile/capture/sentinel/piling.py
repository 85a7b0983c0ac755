"""Calls that pile up in flight: a rank makes more and more that another one does not come to.

Hosts of a job with devices run ahead of each other by hundreds of calls, and stay there. What only grows does not end
well: in memory that is never given back, or in the timeout of the oldest call.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
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
    last: dict[int, int]
    """The newest call of each rank, by number."""


class Piles:
    """Of one group; keeps from look to look what has been seen."""

    def __init__(self) -> None:
        self._looks: list[_Look] = []

    def look(self, histories: Mapping[int, History], now: float) -> Pile | None:
        """`histories`: of all members that can be seen here, by rank."""
        if self._looks and now - self._looks[-1].at < EVERY_S:
            return None
        last = {rank: history.last for rank, history in histories.items()}
        self._looks = [look for look in self._looks if look.last.keys() == last.keys()]
        self._looks = [*self._looks, _Look(now, last)][-LOOKS:]
        if len(self._looks) < LOOKS:
            return None
        # Who is ahead of all others changes between ranks that keep step: each pair is looked at by itself.
        grown = [(ahead, behind) for ahead in last for behind in last if self._grows(ahead, behind)]
        if not grown:
            return None
        ahead, behind = max(grown, key=lambda pair: (last[pair[0]] - last[pair[1]], -pair[0], -pair[1]))
        return self._pile(histories, ahead, behind, now)

    def _grows(self, ahead: int, behind: int) -> bool:
        """From each look to the next."""
        more = [look.last[ahead] - look.last[behind] for look in self._looks]
        return all(later >= before + MORE for before, later in pairwise(more))

    def _pile(self, histories: Mapping[int, History], ahead: int, behind: int, now: float) -> Pile | None:
        first, look = self._looks[0], self._looks[-1]
        reached = look.last[behind]
        oldest, newest = histories[ahead].at(reached + 1), histories[ahead].at(look.last[ahead])
        if oldest is None or newest is None or not (all_wait(oldest) and all_wait(newest)):
            return None
        if now - oldest.wall_ns / 1e9 < AGE_S:
            return None
        return Pile(
            ahead, behind, reached + 1, oldest, newest, look.last[ahead] - reached,
            first.last[ahead] - first.last[behind], now - first.at, reached > first.last[behind],
        )  # fmt: skip
