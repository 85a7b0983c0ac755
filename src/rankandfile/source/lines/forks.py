"""Between two ways of one program: the functions in which they can have parted, from which line to which.

A rank that made a call at one place and its next one at another has left some functions, moved on in one, and
entered others. Which it left is not always told: a function at the same line may still be in the same round, or have
been left and entered again by a loop further out. So there can be several places of parting; the source tells which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .call_paths import Frame, Way

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
    guessed: bool = False
    """That the side which is not seen in this function came into it at all is only possible."""


Loops: TypeAlias = Callable[[Frame, "str | None"], Literal["own", "library", ""]]
"""Whether a loop goes over the frame's line: its own, or one of a library that calls this function from there."""
Avoids: TypeAlias = Callable[[Frame, int], bool]
"""Whether the frame's line can be reached from the beginning of its function without passing the other line."""

Passes: TypeAlias = Callable[[Frame, "int | None", int, "int | None"], bool]
"""Whether control, coming from a line of the frame's function (None: its start), can pass the second line on its way
to the third (None: its end) without coming by the first again."""


@dataclass(frozen=True)
class Ground:
    """What the source says of the ways: asked, so that this module needs none of it."""

    loops: Loops
    avoids: Avoids
    passes: Passes


def forks(before: Way, normal: Way | Left, culprit: Way | Left, ground: Ground) -> list[Fork]:
    """The simplest first."""
    found: dict[Fork, None] = {}
    if not before:
        if normal != "end" and culprit != "end":
            found.update(dict.fromkeys(_entered(normal, culprit, 0, 0)))
            found.update(dict.fromkeys(_inside(normal, culprit, ground)))
        return list(found)
    for one, rounds_one in _moves(before, normal, ground):
        for other, rounds_other in _moves(before, culprit, ground):
            rounds = rounds_one + rounds_other
            for fork in _parted(before, normal, culprit, one, other, rounds, ground):
                found.setdefault(fork)
    return sorted(found, key=lambda fork: (fork.guessed, fork.rounds, -fork.depth))


def _moves(before: Way, to: Way | Left, ground: Ground) -> Iterator[tuple[int, int]]:
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
        if ground.loops(to[outer], _called(to, outer)) and _entered_without(
            before, to, outer + 1, ground.avoids
        ):
            yield outer, rounds
            rounds += 1


def _entered_without(before: Way, to: Way, depth: int, avoids: Avoids) -> bool:
    """Entering the functions anew, the rank can have come to where it is without making the earlier call again."""
    for one, other in zip(before[depth:], to[depth:], strict=False):
        if one[:2] != other[:2]:
            return True
        if one.line != other.line:
            return avoids(other, one.line)
    return True


def _parted(
    before: Way,
    normal: Way | Left,
    culprit: Way | Left,
    one: int,
    other: int,
    rounds: int,
    ground: Ground,
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
        yield from _inside(normal, culprit, ground, depth, rounds)
        return
    # A side that went into another function may be the only one that got so far in it.
    if one == depth and normal != "end" and _can_pass(ground, frame, after, normal, theirs):
        yield from _passed(normal, depth + 1, rounds, culprit_left=True)
    if other == depth and culprit != "end" and _can_pass(ground, frame, after, culprit, ours):
        yield from _passed(culprit, depth + 1, rounds, culprit_left=False)


def _passed(way: Way, depth: int, rounds: int, culprit_left: bool) -> Iterator[Fork]:
    """The other side entered this function too, and left it without coming to this line."""
    for deeper in range(depth, len(way)):
        stop = _stop(way, deeper)
        here, there = (stop, "end") if culprit_left else ("end", stop)
        yield Fork(way[deeper], None, here, there, rounds, deeper, way[:deeper], True)  # type: ignore[arg-type]


def _entered(normal: Way, culprit: Way, depth: int, rounds: int) -> Iterator[Fork]:
    """Both entered the functions from `depth` on anew: the first in which they stand at different lines."""
    for deeper in range(depth, min(len(normal), len(culprit))):
        ours, theirs = _stop(normal, deeper), _stop(culprit, deeper)
        if normal[deeper][:2] != culprit[deeper][:2]:
            return
        if ours != theirs:
            yield Fork(normal[deeper], None, ours, theirs, rounds, deeper, normal[:deeper])
            return


def _inside(normal: Way, culprit: Way, ground: Ground, common: int = -1, rounds: int = 0) -> Iterator[Fork]:
    """Both entered the functions below `common` anew, and one of the two may have gone by where the other went."""
    apart = (d for d, (a, b) in enumerate(zip(normal, culprit, strict=False)) if d > common and a != b)
    depth = next(apart, None)
    if depth is None or normal[depth][:2] != culprit[depth][:2]:
        return
    frame = normal[depth]
    if _can_pass(ground, frame, None, normal, _stop(culprit, depth)):
        yield from _passed(normal, depth + 1, rounds, culprit_left=True)
    if _can_pass(ground, frame, None, culprit, _stop(normal, depth)):
        yield from _passed(culprit, depth + 1, rounds, culprit_left=False)


def _can_pass(ground: Ground, frame: Frame, after: Stop | None, way: Way, to: Stop | Left) -> bool:
    """The side that went to `to` can have come, on its way, by the line of `frame`'s function where the way leads."""
    here = next(f.line for f in way if f[:2] == frame[:2])
    return ground.passes(
        frame, after.line if after else None, here, to.line if isinstance(to, Stop) else None
    )


def _stop(way: Way, depth: int) -> Stop:
    return Stop(way[depth].line, _called(way, depth))


def _called(way: Way, depth: int) -> str | None:
    return way[depth + 1].function.rsplit(".", 1)[-1] if depth + 1 < len(way) else None
