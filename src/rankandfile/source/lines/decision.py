"""Of the places where the ranks can have diverged, the decision that did it: the one that can differ between ranks."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from rankandfile.source.dependence import Reason, why
from rankandfile.source.dependence.reason import UNKNOWN
from rankandfile.source.dependence.syntax import ancestors, is_range, spans, text
from rankandfile.source.dependence.written.matched import as_test
from rankandfile.source.effects.always import always_issues
from rankandfile.source.effects.loud import effects_of
from rankandfile.source.flow import (
    Condition,
    Point,
)
from rankandfile.source.one_rank.arithmetic import Values
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace, SourcePlaces

from .branchings import Branching
from .call_paths import Stop
from .conditions_between import by_raising_alone, conditions_of
from .exception_origin import ends_the_program
from .operands import by_the_count, told_apart

MOST_BRANCHINGS = 40
#: How much has to be supposed for a decision to have led ranks apart: that it can differ, where that is not shown;
#: that a loop, or a count of rounds, which mostly comes to its end for all at once, did not; that loops further out
#: came round; that a side came by; that a call on one of its ways raised, where both lead to the same otherwise.
_LEVELS = {"varying": 0, "axes": 1, "unknown": 4}
_LOOP, _ROUND, _GUESS, _RAISING = 2, 1, 1, 1
#: More than this is no answer, and so many loops that come round without a call are no explanation.
MOST_SUPPOSED = 4
#: Of one that stands in plain sight between the two ways, where nothing else does, and nobody can say why it differs.
MOST_IN_SIGHT = 7
MOST_ROUNDS = 2
#: Ranks of a cohort that are asked one by one what they can do.
MOST_ASKED = 32


class Decision(Struct, frozen=True):
    branching: Branching
    place: SourcePlace
    """Of the branching's frame: the function in which the decision stands."""
    condition: Condition
    reason: Reason
    weight: tuple[int, ...]
    """The smaller, the better it explains the divergence."""
    normal: tuple[int, ...] = ()
    """Ranks that can have come to it and taken the normal side's way, by what is known of each."""
    culprit: tuple[int, ...] = ()
    by_number: bool = False
    """What is known of each of these ranks alone makes it come out so."""

    @property
    def outcomes(self) -> tuple[str, str]:
        """How it came out on the normal side, and on the culprit's."""
        here, there = self.condition.here, self.condition.there
        return (there, here) if self.branching.normal == "end" else (here, there)


class Sides(NamedTuple):
    """The ranks of the two cohorts, the one first whose path it is; which ways a test can come out on a rank, and what
    an expression can be there."""

    normal: tuple[int, ...]
    culprit: tuple[int, ...]
    ways: Callable[[int, ast.expr, Function], frozenset[bool]]
    values: Callable[[int, ast.expr, Function], Values]
    made_none: bool = False
    """Neither has made a call between the one that both made and its own next one."""

    def alike(self, function: Function, test: ast.expr) -> bool:
        """Whether it comes out the same on all of them, as far as their numbers and environments decide it."""
        ways = {self.ways(rank, test, function) for rank in (*self.normal, *self.culprit)}
        return len(ways) == 1 and len(next(iter(ways))) == 1


def decisions(
    places: SourcePlaces,
    branchings: list[Branching],
    sides: Sides,
    *,
    raising: bool = False,
    seeming_equal: bool = False,
) -> list[Decision]:
    """Every decision that leads to the two sides of a branching, the one that explains it best first; with `raising`,
    only the calls that may have raised instead; with `seeming_equal`, also those that look the same on all ranks."""
    found: list[Decision] = []
    for nth, branching in enumerate(branchings[:MOST_BRANCHINGS]):
        place = places.find(branching.frame)
        if place is None or not place.known or branching.rounds > MOST_ROUNDS:
            continue
        elsewhere = branching.went_on or branching.came_back
        unkept = elsewhere and ends_the_program(places, branching.outer)
        returned = branching.went_on and not raising and unkept
        for distance, condition in enumerate(conditions_of(place.function, branching, raising, returned)):
            if condition.kind in ("with", "except") and branching.after is not None:
                passed = Point(branching.after.line, branching.after.call)
                condition = replace(condition, after=passed)
            reason = _why(places, place, condition)
            outcomes = _outcomes(condition, branching)
            normal, culprit = (
                _able(ranks, truth, condition, place.function, sides)
                for ranks, truth in zip((sides.normal, sides.culprit), outcomes, strict=True)
            )
            if not normal or not culprit or equally_often(condition, place.function, sides):
                # A way that a rank cannot take is not the one it took.
                continue
            if sides.made_none and _calls_all_itself(places, condition, branching):
                continue
            if condition.kind == "for" and _left_by_both(condition, place.function, branching):
                continue
            proved = _by_number(condition, place.function, sides, outcomes[0])
            if proved is not None:
                reason = replace(reason, source="rank_api") if reason.level == "varying" else proved
            else:
                reason = told_apart(
                    places.program,
                    place.function,
                    _test(condition, place.function),
                    reason,
                    partial(_ways_of, place.function, sides),
                )
            if reason.level == "uniform":
                # What is equal on all ranks parts nobody. (What was put into it may differ: see `filled_collection`.)
                if not seeming_equal:
                    continue
                reason = UNKNOWN
            raised = by_raising_alone(place.function, branching, condition)
            if raised and branching.came_back and unkept:
                # Who raised there did not come back from it.
                continue
            supposed = (
                _LEVELS[reason.level]
                + _LOOP * (condition.of_items or _in_step(place.function, condition, reason))
                + _ROUND * branching.rounds
                + _GUESS * branching.guessed
                + _RAISING * raised
            )
            # A loop that ended on one rank alone, and loops further out that came round twice: two stories in one.
            if supposed <= MOST_IN_SIGHT and not (condition.of_items and branching.rounds > 1):
                # What cannot have led some of a cohort leaves open how those came to be where the others are.
                of_some = len(normal) < len(sides.normal) or len(culprit) < len(sides.culprit)
                weight = (supposed, of_some, nth, distance)
                alone = proved is not None and _each(
                    normal, culprit, condition, place.function, sides, outcomes
                )
                found.append(Decision(branching, place, condition, reason, weight, normal, culprit, alone))
    return sorted(found, key=lambda decision: decision.weight)


def _in_step(function: Function, condition: Condition, reason: Reason) -> bool:
    is_test = condition.kind in ("if", "ifexp") and reason.level == "unknown"
    return is_test and by_the_count(function, condition.node)


_TRUE = {"taken", "true", "another round", "holds", "matched"}


def _test(condition: Condition, function: Function) -> ast.AST:
    """What decides, a `case` as the test that it makes."""
    return as_test(function.module, condition.node) or condition.node


def _outcomes(condition: Condition, branching: Branching) -> tuple[bool | None, bool | None]:
    """What the test must have been on either side; None for what is no test."""
    if condition.kind not in ("if", "while", "ifexp", "boolop", "assert", "match"):
        return None, None
    here, there = condition.here in _TRUE, condition.there in _TRUE
    return (there, here) if branching.normal == "end" else (here, there)


def _able(
    ranks: tuple[int, ...], truth: bool | None, condition: Condition, function: Function, sides: Sides
) -> tuple[int, ...]:
    """Those that can have come to the test, and through it on this side; none where the first cannot."""
    test = _test(condition, function)

    def passes(rank: int) -> bool:
        return truth is None or not isinstance(test, ast.expr) or truth in sides.ways(rank, test, function)

    able = tuple(r for r in ranks if passes(r) and _comes_to(r, condition.node, truth, function, sides))
    return able if able[:1] == ranks[:1] else ()


def _comes_to(rank: int, node: ast.AST, truth: bool | None, function: Function, sides: Sides) -> bool:
    """No test around it keeps the rank away, nor a part of its own test."""
    below: ast.AST = node
    for outer in ancestors(function.module, node):
        if outer is function.node:
            break
        if isinstance(outer, ast.If) and below is not outer.test:
            inside = any(below is s for s in outer.body)
            if inside not in sides.ways(rank, outer.test, function):
                return False
        goes_on = isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And)
        if isinstance(outer, ast.BoolOp) and truth is goes_on:
            # `a and b` is true only where `a` is; false it may be without `b`.
            asked_before = outer.values[: next(i for i, part in enumerate(outer.values) if part is below)]
            if any(goes_on not in sides.ways(rank, part, function) for part in asked_before):
                return False
        below = outer
    return True


def _calls_all_itself(places: SourcePlaces, condition: Condition, branching: Branching) -> bool:
    """Whether to be asked the test takes a collective, and nobody is known to have made it or to be in it."""
    node = condition.node
    if not isinstance(node, ast.expr):
        return False
    stops = (branching.after, branching.normal, branching.culprit)
    if any(isinstance(stop, Stop) and spans(node, stop.line) for stop in stops):
        return False
    return always_issues(effects_of(places.program), node)


def _left_by_both(condition: Condition, function: Function, branching: Branching) -> bool:
    """A loop that the one side was seen behind, while the other has left the function: neither is in a round of it, and
    how many there were has parted nobody."""
    seen = branching.culprit if branching.normal == "end" else branching.normal
    gone = "end" in (branching.normal, branching.culprit)
    if not gone or seen == "end" or branching.handed_out or condition.node is None:
        return False
    loop = next((n for n in ancestors(function.module, condition.node) if isinstance(n, ast.For)), None)
    return loop is not None and not loop.lineno <= seen.line <= (loop.end_lineno or loop.lineno)


def equally_often(condition: Condition, function: Function, sides: Sides) -> bool:
    """A loop of which the code says how often each of them goes round: `range(rank, 15, 3)` is five on every rank."""
    items = condition.node
    if condition.kind not in ("for", "comprehension") or not is_range(items):
        return False
    rounds = {_rounds(rank, items, function, sides) for rank in (*sides.normal, *sides.culprit)}
    return len(rounds) == 1 and None not in rounds


def _rounds(rank: int, items: ast.Call, function: Function, sides: Sides) -> int | None:
    numbers = []
    for argument in items.args:
        possible = sides.values(rank, argument, function)
        if possible is None or len(possible) != 1 or not isinstance(number := next(iter(possible)), int):
            return None
        numbers.append(number)
    try:
        return len(range(*numbers))
    except (TypeError, ValueError, OverflowError):
        return None


def _by_number(condition: Condition, function: Function, sides: Sides, truth: bool | None) -> Reason | None:
    """What is known of each rank alone makes the test come out differently on the two."""
    node = _test(condition, function)
    if truth is None or not isinstance(node, ast.expr) or not sides.normal or not sides.culprit:
        return None
    one, other = sides.normal[0], sides.culprit[0]
    if sides.ways(one, node, function) != {truth} or sides.ways(other, node, function) != {not truth}:
        return None
    yes, no = (one, other) if truth else (other, one)
    words = f"`{text(node)}` is true on rank {yes} and false on rank {no}, by what each is in the job"
    return Reason("varying", source="rank_api", sentence=words)


def _each(
    normal: tuple[int, ...],
    culprit: tuple[int, ...],
    condition: Condition,
    function: Function,
    sides: Sides,
    outcomes: tuple[bool | None, bool | None],
) -> bool:
    """Whether the test can come out in no other way on any of them."""
    node = _test(condition, function)
    return isinstance(node, ast.expr) and all(
        sides.ways(rank, node, function) == {truth}
        for ranks, truth in zip((normal, culprit), outcomes, strict=True)
        for rank in ranks
    )


def _ways_of(function: Function, sides: Sides, part: ast.expr) -> tuple[frozenset[bool], frozenset[bool]]:
    """Of each side's first rank: which ways a part of a test can come out."""
    return sides.ways(sides.normal[0], part, function), sides.ways(sides.culprit[0], part, function)


def _why(places: SourcePlaces, place: SourcePlace, condition: Condition) -> Reason:
    """Of a part of `a and b` that is equal everywhere the rest counts: it decides whether the part is asked at all."""
    reason = why(places.program, place.function, condition)
    if condition.kind == "boolop" and reason.level == "uniform":
        for node in place.function.nodes:
            if isinstance(node, ast.BoolOp) and any(part is condition.node for part in ast.walk(node)):
                return why(places.program, place.function, node)
    return reason
