"""What a rank left out, held against what it did itself in the rounds before.

Stages of a pipeline do not make each other's calls, so there is nobody beside a rank that shows what it should have
done. But a job repeats itself: a round that is an earlier one but for some calls shows which were left out, and where.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from rankandfile.model.heuristics import heuristic
from rankandfile.source.lines.call_paths import Made

#: So many rounds are looked at, from the end.
_MOST_ROUNDS = 40
_LONGEST = 5_000
_FEWEST_ROUNDS = 2


class LeftOut(NamedTuple):
    before: Made | None
    """The last call as in the round before; None: the round began with what was left out."""
    missing: Made
    """From the round before: the call that was not made."""
    next: Made | None
    """What the rank did instead; None: it made no other call."""


@heuristic("its own earlier rounds", "a rank's last round is held against the round before")
def left_out(calls: list[Made], at: set[tuple[str, int]]) -> LeftOut | None:
    """The latest round that lacks a call from one of these lines, which the round before it has."""
    for before, round_ in _rounds(calls):
        if len(round_) < len(before) <= _LONGEST:
            found = _lacking(before, round_)
            if found is not None and found.missing.path and found.missing.path[-1][1:] in at:
                return found
    return None


@heuristic(
    "due by its own rounds",
    "what a rank made after like calls in each round before was due after the last of them",
)
def not_made(calls: list[Made], at: set[tuple[str, int]]) -> LeftOut | None:
    """The call from one of these lines that the rank made next, each time that it had made what it made since the last
    such call."""
    places = [n for n, made in enumerate(calls) if made.path and made.path[-1][1:] in at]
    if len(places) <= _FEWEST_ROUNDS or places[-1] == len(calls) - 1:
        return None
    ends = [*places[-_MOST_ROUNDS:], len(calls)]
    rounds = [_done(calls[a + 1 : b]) for a, b in pairwise(ends)]
    same = all(_what(calls[n]) == _what(calls[places[-1]]) for n in places)
    return (
        LeftOut(calls[-1], calls[places[-1]], None) if same and all(r == rounds[-1] for r in rounds) else None
    )


def _rounds(calls: list[Made]) -> Iterator[tuple[list[Made], list[Made]]]:
    """Two rounds in a row, the latest ones first. A round ends with a call like the rank's last one."""
    if not calls:
        return
    last = _what(calls[-1])
    ends = [place for place, made in enumerate(calls) if _what(made) == last][-_MOST_ROUNDS:]
    rounds = [calls[a + 1 : b + 1] for a, b in pairwise(ends)]
    yield from reversed(list(pairwise(rounds)))


def _lacking(whole: list[Made], part: list[Made]) -> LeftOut | None:
    """Where the part lacks one run of calls of the whole, and is the same otherwise."""
    same = 0
    while same < len(part) and _what(whole[same]) == _what(part[same]):
        same += 1
    if same == len(part) or _done(whole[same + len(whole) - len(part) :]) != _done(part[same:]):
        return None
    return LeftOut(part[same - 1] if same else None, whole[same], part[same])


def _what(made: Made) -> tuple[object, ...]:
    return made.op, made.group, made.path


def _done(calls: list[Made]) -> list[tuple[object, ...]]:
    return [_what(made) for made in calls]
