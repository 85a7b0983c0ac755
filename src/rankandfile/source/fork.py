"""Between two ways of one program: the functions in which they can have parted, from which line to which.

A rank that made a call at one place and its next one at another has left some functions, moved on in one, and
entered others. Which it left is not always told: a function at the same line may still be in the same round, or have
been left and entered again by a loop further out. So there can be several places of parting; the source tells which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .ways import Frame, Way

Left: TypeAlias = Literal["end"]


@dataclass(frozen=True)
class Stop:
    """A line in the function, and the function that was called from it, where one is known."""

    line: int
    call: str | None = None


@dataclass(frozen=True)
class Fork:
    """In this function, coming from `after`, one side went to `normal`, and the other to `culprit`."""

    frame: Frame
    after: Stop | None
    """None: from its beginning."""
    normal: Stop | Left
    culprit: Stop | Left
    rounds: int
    """Loops further out that must have come round for it: fewer is simpler."""
    depth: int
    outer: Way
    """The frames around it, outermost first."""


Loops: TypeAlias = Callable[[Frame], bool]


def forks(before: Way, normal: Way | Left, culprit: Way | Left, loops: Loops) -> list[Fork]:
    """The simplest first; `loops` tells whether a loop goes over the frame's line."""
    found: dict[Fork, None] = {}
    if not before:
        if normal != "end" and culprit != "end":
            found.update(dict.fromkeys(_entered(normal, culprit, 0, 0)))
            found.update(dict.fromkeys(_inside(normal, culprit)))
        return list(found)
    for one, rounds_one in _moves(before, normal, loops):
        for other, rounds_other in _moves(before, culprit, loops):
            rounds = rounds_one + rounds_other
            for fork in _parted(before, normal, culprit, one, other, rounds):
                found.setdefault(fork)
    return sorted(found, key=lambda fork: (fork.rounds, -fork.depth))


def _moves(before: Way, to: Way | Left, loops: Loops) -> Iterator[tuple[int, int]]:
    """At which depth the rank moved on, and how many loops came round for it. -1: it left everything."""
    if to == "end":
        yield -1, 0
        return
    depth = next((d for d, (a, b) in enumerate(zip(before, to, strict=False)) if a != b), None)
    if depth is not None and before[depth][:2] == to[depth][:2]:
        yield depth, 0
        rest = depth - 1
    else:
        # One runs into another function from the same line, or it is the same call again.
        rest = (depth if depth is not None else min(len(before), len(to))) - 1
        if depth is not None and rest >= 0:
            yield rest, 0
            rest -= 1
    rounds = 1
    for outer in range(rest, -1, -1):
        if loops(to[outer]):
            yield outer, rounds
            rounds += 1


def _parted(
    before: Way, normal: Way | Left, culprit: Way | Left, one: int, other: int, rounds: int
) -> Iterator[Fork]:
    depth = max(one, other)
    if depth < 0:
        return
    frame = before[depth]
    after = _stop(before, depth)
    ours: Stop | Left = _stop(normal, depth) if one == depth and normal != "end" else "end"
    theirs: Stop | Left = _stop(culprit, depth) if other == depth and culprit != "end" else "end"
    if ours != theirs:
        yield Fork(frame, after, ours, theirs, rounds, depth, before[:depth])
    if one == other and ours == theirs and normal != "end" and culprit != "end":
        yield from _entered(normal, culprit, depth + 1, rounds)
    # A side that went into another function may be the only one that got so far in it.
    if one == depth and normal != "end":
        yield from _passed(normal, depth + 1, rounds, culprit_left=True)
    if other == depth and culprit != "end":
        yield from _passed(culprit, depth + 1, rounds, culprit_left=False)


def _passed(way: Way, depth: int, rounds: int, culprit_left: bool) -> Iterator[Fork]:
    """The other side entered this function too, and left it without coming to this line."""
    for deeper in range(depth, len(way)):
        stop = _stop(way, deeper)
        here, there = (stop, "end") if culprit_left else ("end", stop)
        yield Fork(way[deeper], None, here, there, rounds + 1, deeper, way[:deeper])  # type: ignore[arg-type]


def _entered(normal: Way, culprit: Way, depth: int, rounds: int) -> Iterator[Fork]:
    """Both entered the functions from `depth` on anew: the first in which they stand at different lines."""
    for deeper in range(depth, min(len(normal), len(culprit))):
        ours, theirs = _stop(normal, deeper), _stop(culprit, deeper)
        if normal[deeper][:2] != culprit[deeper][:2]:
            return
        if ours != theirs:
            yield Fork(normal[deeper], None, ours, theirs, rounds, deeper, normal[:deeper])
            return


def _inside(normal: Way, culprit: Way) -> Iterator[Fork]:
    depth = next((d for d, (a, b) in enumerate(zip(normal, culprit, strict=False)) if a != b), None)
    if depth is not None:
        yield from _passed(normal, depth + 1, 0, culprit_left=True)
        yield from _passed(culprit, depth + 1, 0, culprit_left=False)


def _stop(way: Way, depth: int) -> Stop:
    return Stop(way[depth].line, way[depth + 1].function if depth + 1 < len(way) else None)
