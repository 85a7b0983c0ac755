"""Where two call paths can have branched: in which function, and between which of its lines.

Two ranks made a call from `main:5 > train:12`; the next of one comes from `main:5 > train:20`, of the other from
`main:9`: in `train`, after line 12, one went on to line 20, and the other left the function. Which functions a rank
left is not always told: one at the same line may still be in the same round, or have been left and entered again by a
loop further out. So there can be several branchings; the decisions that stand at each tell which it was.

In: the call path of the last call that both made, the paths of their next ones (or `end`: out of the program), and
which lines can be reached from which. Out: the branchings, the simplest first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from .call_paths import OPAQUE, CallPath, Frame, Stop, first_unlike
from .reachability import Reachability

End: TypeAlias = Literal["end"]


class Branching(Struct, frozen=True):
    """In this function, coming from `after`, one side went to `normal`, and the other to `culprit`."""

    frame: Frame
    after: Stop | None
    """None: from its beginning."""
    normal: Stop | End
    culprit: Stop | End
    rounds: int
    """Loops further out that must have come round for it: fewer is simpler."""
    depth: int
    outer: CallPath
    """The frames around it, outermost first."""
    guessed: bool = False
    """That the side which is not seen in this function came into it at all is only possible."""
    handed_out: bool = False
    """The side that is not seen in it any more is in a round of the loop over what this function yields: it came there
    by a `yield`, and by no end."""
    went_on: bool = False
    """The side that is not seen in it any more was seen further out: it did not end with the function."""
    came_back: bool = False
    """The same of a side that is not seen in it at all: had it come into it, it would have come back from it."""


def branchings(
    before: CallPath,
    normal: CallPath | End,
    culprit: CallPath | End,
    reachability: Reachability,
    anew: bool = False,
) -> list[Branching]:
    """Those by which two ranks can have come from one call path to two others; the simplest first.

    `anew`: who made the same call again may have come to its innermost loop anew, as the calls before tell.
    """
    found: dict[Branching, None] = {}
    if not before:
        if normal != "end" and culprit != "end":
            found.update(dict.fromkeys(_entered(normal, culprit, 0, 0)))
            found.update(dict.fromkeys(_inside(normal, culprit, reachability)))
        return list(found)
    for one, rounds_one in _moves(before, normal, reachability, anew):
        for other, rounds_other in _moves(before, culprit, reachability, anew):
            # A loop further out that came round for both is one thing to suppose, not two.
            together = one == other >= 0 and rounds_one and rounds_other
            rounds = max(rounds_one, rounds_other) if together else rounds_one + rounds_other
            for branching in _between(before, normal, culprit, one, other, rounds, reachability, anew):
                found.setdefault(branching)
    return sorted(found, key=_order)


def _order(branching: Branching) -> tuple[bool, int, int]:
    """Where both sides were seen, the innermost is the simplest. Of functions that only one is known to have come into,
    the outermost: who never came there did not come any deeper."""
    return branching.guessed, branching.rounds, branching.depth if branching.guessed else -branching.depth


def _moves(
    before: CallPath, to: CallPath | End, reachability: Reachability, new: bool
) -> Iterator[tuple[int, int]]:
    """At which depth the rank moved on, and how many loops came round for it. -1: it left everything."""
    if to == "end":
        yield -1, 0
        return
    depth = first_unlike(before, to)
    if depth is not None and before[depth][:2] == to[depth][:2]:
        # Who stands before the line it was at has left the function, and come into it anew.
        if reachability.goes_on(before[depth], to[depth].line):
            yield depth, 0
        rest = depth - 1
    else:
        # One runs into another function from the same line, or it is the same call again.
        rest = (depth if depth is not None else min(len(before), len(to))) - 1
        if depth is not None and rest >= 0:
            yield rest, 0
            rest -= 1
    rounds = 1
    ended = new and to == before
    for outer in range(rest, -1, -1):
        anew = reachability.loops(to[outer], _called(to, outer))
        if anew and ended and reachability.only_loop(to[outer]):
            # Was the innermost loop over, the next one came round: one thing to suppose, as that this one did.
            ended = False
            yield outer, rounds
            continue
        if anew and _entered_without(before, to, outer + 1, reachability):
            # A framework's loop comes round by itself: nothing need be supposed for that.
            own = to[outer].function.startswith(OPAQUE)
            yield outer, rounds - own
            rounds += not own


def _entered_without(before: CallPath, to: CallPath, depth: int, reachability: Reachability) -> bool:
    """Entering the functions anew, the rank can have come to where it is without making the earlier call again."""
    for one, other in zip(before[depth:], to[depth:], strict=False):
        if one[:2] != other[:2]:
            return True
        if one.line != other.line:
            return reachability.avoids(other, one.line)
    return True


def _between(
    before: CallPath,
    normal: CallPath | End,
    culprit: CallPath | End,
    one: int,
    other: int,
    rounds: int,
    reachability: Reachability,
    anew: bool,
) -> Iterator[Branching]:
    depth = max(one, other)
    if depth < 0:
        return
    frame = before[depth]
    after = _stop(before, depth)
    ours: Stop | End = _stop(normal, depth) if one == depth and normal != "end" else "end"
    theirs: Stop | End = _stop(culprit, depth) if other == depth and culprit != "end" else "end"
    if ours != theirs:
        left = culprit if theirs == "end" else normal if ours == "end" else "end"
        handed_out = (
            left != "end"
            and 0 < depth <= len(left)
            and reachability.over_items(before[depth - 1], left[depth - 1])
        )
        yield Branching(
            frame,
            after,
            ours,
            theirs,
            rounds,
            depth,
            before[:depth],
            handed_out=handed_out,
            went_on=left != "end",
        )
    if one == other and ours == theirs and normal != "end" and culprit != "end":
        yield from _entered(normal, culprit, depth + 1, rounds)
        yield from _inside(normal, culprit, reachability, depth, rounds)
        return
    # A side that went into another function may be the only one that got so far in it.
    if one == depth and normal != "end" and _goes_silently(before, culprit, normal, depth + 1, reachability):
        on = culprit != "end"
        yield from _passed(reachability, (frame, after, theirs), normal, depth + 1, rounds, "culprit", on)
    if (
        other == depth
        and culprit != "end"
        and _goes_silently(before, normal, culprit, depth + 1, reachability)
    ):
        on = normal != "end"
        again = anew and normal == before
        yield from _passed(
            reachability, (frame, after, ours), culprit, depth + 1, rounds, "normal", on, anew=again
        )


def _goes_silently(
    before: CallPath, side: CallPath | End, by: CallPath, depth: int, reachability: Reachability
) -> bool:
    """Whether a side can have gone through the functions of `by` from `depth` on once more without the call that it
    made in them before: its next one is elsewhere."""
    if depth >= min(len(before), len(by)) or before[depth][:2] != by[depth][:2] or side == before:
        return True
    if any(reachability.leaves_without(frame, frame.line) for frame in before[depth:]):
        return True
    # What raised before it came to the call, and was caught in one of the functions around, comes out silently too.
    return any(reachability.swallows(frame) for frame in before[depth:-1])


def _passed(
    reachability: Reachability,
    way: tuple[Frame, Stop | None, Stop | End],
    path: CallPath,
    depth: int,
    rounds: int,
    left: Literal["normal", "culprit"],
    came_back: bool,
    anew: bool = False,
) -> Iterator[Branching]:
    """The side that `left` may have entered the functions of `path` from `depth` on too, and left them without coming
    to its lines. `way`: the function around them, and from where to where that side went in it."""
    frame, after, to = way
    via = next(f.line for f in path if f[:2] == frame[:2])
    lines = after.line if after else None, via, to.line if isinstance(to, Stop) else None
    if not reachability.passes(frame, *lines):
        return
    # If it must have come by there, it did enter the first of them; whether it went deeper is open.
    sure = reachability.must_pass(frame, *lines, anew=anew)
    for deeper in range(depth, len(path)):
        stop = _stop(path, deeper)
        here, there = (stop, "end") if left == "culprit" else ("end", stop)
        guessed = not sure or deeper > depth
        yield Branching(
            path[deeper],
            None,
            here,  # type: ignore[arg-type]
            there,  # type: ignore[arg-type]
            rounds,
            deeper,
            path[:deeper],
            guessed,
            came_back=came_back,
        )


def _entered(normal: CallPath, culprit: CallPath, depth: int, rounds: int) -> Iterator[Branching]:
    """Both entered the functions from `depth` on anew: the first in which they stand at different lines."""
    for deeper in range(depth, min(len(normal), len(culprit))):
        ours, theirs = _stop(normal, deeper), _stop(culprit, deeper)
        if normal[deeper][:2] != culprit[deeper][:2]:
            return
        if ours != theirs:
            yield Branching(normal[deeper], None, ours, theirs, rounds, deeper, normal[:deeper])
            return


def _inside(
    normal: CallPath, culprit: CallPath, reachability: Reachability, common: int = -1, rounds: int = 0
) -> Iterator[Branching]:
    """Both entered the functions below `common` anew, and one of the two may have gone by where the other went."""
    depth = first_unlike(normal, culprit, common + 1)
    if depth is None or normal[depth][:2] != culprit[depth][:2]:
        return
    frame = normal[depth]
    theirs, ours = _stop(culprit, depth), _stop(normal, depth)
    yield from _passed(reachability, (frame, None, theirs), normal, depth + 1, rounds, "culprit", True)
    yield from _passed(reachability, (frame, None, ours), culprit, depth + 1, rounds, "normal", True)


def _stop(path: CallPath, depth: int) -> Stop:
    called = _called(path, depth)
    return Stop(path[depth].line, called.removeprefix(OPAQUE) if called is not None else None)


def _called(path: CallPath, depth: int) -> str | None:
    return path[depth + 1].function.rsplit(".", 1)[-1] if depth + 1 < len(path) else None
