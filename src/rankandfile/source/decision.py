"""Of the places where the ranks can have parted, the decision that did it: the one that can differ between ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .dependence import Reason, why
from .flow import Condition, Exit, Point, deciding
from .fork import Fork, Stop
from .leaving import exits_in
from .place import Place, Places
from .program import Function

MOST_FORKS = 40
#: How well a decision explains that ranks part, best first.
_LEVELS = {"varying": 0, "axes": 1, "unknown": 2, "uniform": 3}


@dataclass(frozen=True)
class Decision:
    fork: Fork
    place: Place
    """Of the fork's frame: the function in which the decision stands."""
    condition: Condition
    reason: Reason
    weight: tuple[int, ...]
    """The smaller, the better it explains the parting."""


def decisions(places: Places, forks: list[Fork]) -> list[Decision]:
    """Every decision that leads to the two ways, the one that explains it best first."""
    found = []
    for nth, fork in enumerate(forks[:MOST_FORKS]):
        place = places.find(fork.frame)
        if place is None or not place.known:
            continue
        for distance, condition in enumerate(_deciding(place.function, fork)):
            reason = why(places.program, place.function, condition)
            # Loaders are made for one rank each, and mostly as long as each other: a loop that one of them ends
            # explains less than a decision on what only this rank knows.
            loader = condition.kind == "for"
            weight = (_LEVELS[reason.level], int(loader), fork.rounds, nth, distance)
            found.append(Decision(fork, place, condition, reason, weight))
    return sorted(found, key=lambda decision: decision.weight)


def _deciding(function: Function, fork: Fork) -> Iterator[Condition]:
    here, there = fork.normal, fork.culprit
    if here == "end":
        here, there = there, here
    if not isinstance(here, Stop) or not _inside(function, here):
        return
    if isinstance(there, Stop) and not _inside(function, there):
        return
    if fork.after is not None and not _inside(function, fork.after):
        return
    after = _point(fork.after) if fork.after is not None else None
    ends: list[int | Point | Exit] = [_point(there)] if isinstance(there, Stop) else ["end"]
    if not isinstance(there, Stop):
        # To end the process is to leave the function too.
        ends += [statement.lineno for statement, _ in exits_in(function)]
    seen: set[int] = set()
    for end in ends:
        for condition in deciding(function, _point(here), end, after):
            # That any call may raise is true everywhere; a handler for it is another matter.
            if condition.kind != "call" and id(condition.node) not in seen:
                seen.add(id(condition.node))
                yield condition


def _inside(function: Function, stop: Stop) -> bool:
    return function.first_line <= stop.line <= function.last_line


def _point(stop: Stop) -> Point:
    return Point(stop.line, stop.call)
