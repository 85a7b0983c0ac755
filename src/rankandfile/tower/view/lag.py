"""How far each rank is behind the others of its groups, without comparing what was not seen at one time.

Nodes are read at different moments of a second, in which a job makes a hundred calls: whoever is read later is further.
So a rank is held against what is *known to have begun before it was itself read*: numbers that others had reached by
then, and open calls, whose age tells when they began. Who is late by that is late indeed, and by at least so much.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from rankandfile.model.digest import Digest, Standing


class Place(NamedTuple):
    """One rank in one group. There are several of each rank, in every look at a job: hence no dataclass."""

    digest: Digest
    standing: Standing
    behind: int
    """Collectives that others had begun and it had not."""
    late_s: float
    """For how long at least others have waited for it, when it was read."""
    late_for: int
    """Number of the first collective that others wait in and it has not begun; 0 for none."""


@dataclass
class _Facts:
    """That a number had begun by some time."""

    reached: list[tuple[float, int]] = field(default_factory=list)
    waits: list[tuple[int, float]] = field(default_factory=list)


def places(digests: Iterable[Digest]) -> dict[str, list[Place]]:
    """Group id -> its ranks, by their number."""
    of_group: dict[str, list[tuple[Digest, Standing]]] = {}
    for digest in digests:
        for standing in digest.groups:
            of_group.setdefault(standing.group, []).append((digest, standing))
    return {
        group: sorted(_placed(members), key=lambda place: place.digest.rank)
        for group, members in of_group.items()
    }


def _placed(members: list[tuple[Digest, Standing]]) -> list[Place]:
    facts = _Facts()
    for digest, standing in members:
        facts.reached.append((digest.time, standing.last))
        if standing.open_s is not None and standing.done < standing.last:
            began = digest.time - standing.open_s
            facts.reached.append((began, standing.done + 1))
            facts.waits.append((standing.done + 1, began))
    times, numbers = _running_front(facts.reached)
    waits, begun = _earliest_wait(facts.waits)
    found = []
    for digest, standing in members:
        front = numbers[bisect_right(times, digest.time) - 1]
        number, began_at = _wait_beyond(waits, begun, standing.last)
        late = digest.time - began_at if began_at is not None else 0.0
        found.append(
            Place(digest, standing, max(0, front - standing.last), max(0.0, late), number if late > 0 else 0)
        )
    return found


def _running_front(reached: list[tuple[float, int]]) -> tuple[list[float], list[int]]:
    times, numbers, front = [], [], 0
    for time, number in sorted(reached):
        front = max(front, number)
        times.append(time)
        numbers.append(front)
    return times, numbers


def _earliest_wait(waits: list[tuple[int, float]]) -> tuple[list[int], list[tuple[float, int]]]:
    """Numbers, ascending; beside each, when the earliest wait in it or in a later one began, and in which."""
    numbers: list[int] = []
    begun: list[tuple[float, int]] = []
    for number, began in sorted(waits, reverse=True):
        best = min((began, number), begun[-1]) if begun else (began, number)
        numbers.append(number)
        begun.append(best)
    return numbers[::-1], begun[::-1]


def _wait_beyond(numbers: list[int], begun: list[tuple[float, int]], last: int) -> tuple[int, float | None]:
    at = bisect_right(numbers, last)
    return (begun[at][1], begun[at][0]) if at < len(numbers) else (0, None)
