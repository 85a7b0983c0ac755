"""What parted two cohorts where no test of the functions on the way did."""

from __future__ import annotations

import ast

from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.value import ORDERS
from rankandfile.source.flow import Condition
from rankandfile.source.lines.branchings import Branching
from rankandfile.source.lines.call_paths import Stop
from rankandfile.source.lines.conditions_between import conditions_of
from rankandfile.source.lines.decision import MOST_ROUNDS, Sides, equally_often
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.exception_origin import catcher, keeps
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.made_from import Entry, enters
from rankandfile.source.program.places import SourcePlace

from .again.run_again import run_again
from .another_callee import another_callee, another_object, at
from .barred import barred
from .kept_answers.answered_before import answered_before
from .kept_answers.nothing_new import nothing_new
from .logged_values import logged_values
from .no_graph import no_graph
from .put_off import put_off
from .through_framework import through_framework
from .two_ways import branchings_of, sides_of


def without_a_test(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """What no test of the functions on the way decided."""
    return (
        put_off(search, divergence)
        or no_graph(search, divergence)
        or run_again(search, divergence)
        or answered_before(search, divergence)
        or nothing_new(search, divergence)
        or barred(search, divergence)
        or another_callee(search, divergence)
        or another_object(search, divergence)
        or logged_values(search, divergence)
        or through_framework(search, divergence)
        or filled(search, divergence)
        or caught_outside(search, divergence)
    )


def filled(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """What a loop goes over, or a test asks for, was filled by a decision that differs."""
    sides = sides_of(search, divergence)
    for branching in branchings_of(search, divergence):
        place = search.places.find(branching.frame)
        if place is None or not place.known or branching.guessed or branching.rounds > MOST_ROUNDS:
            continue
        for condition in conditions_of(place.function, branching):
            if equally_often(condition, place.function, sides):
                continue
            entry = of_loop(search, place, condition, sides)
            if entry is not None and (entry.caught or entry.test or entry.reason.source in ORDERS):
                kind = "dropped" if entry.caught else "filled" if entry.test else "order"
                return at(entry, divergence, kind)
    return None


def of_loop(search: Search, place: SourcePlace, condition: Condition, sides: Sides) -> Entry | None:
    """Where what a loop goes over becomes another thing on one rank than on another."""
    if condition.kind != "for" or not isinstance(condition.node, ast.expr):
        return None
    return enters(search.program, place.function, condition.node, sides.alike)


def caught_outside(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """Nothing written in the function lets a side leave it; but a handler further out would catch an exception."""
    sure = [b for b in branchings_of(search, divergence) if not b.guessed and not _goes_back(b)]
    for branching in sure:
        place = search.places.find(branching.frame)
        if (
            branching.rounds > min(MOST_ROUNDS, sure[0].rounds)
            or branching.after is None
            or branching.culprit != "end"
        ):
            continue
        if place is None or not place.known or any(True for _ in conditions_of(place.function, branching)):
            continue
        caught = catcher(search.places, branching.outer, None)
        if caught is None:
            continue
        where, handler = caught
        text = where.module.code_at(handler.lineno)
        reasons = (
            search.why(where.function, keeps(handler, text)),
            *_raised_on_the_way(search, place, branching),
        )
        again = divergence.culprit.path[: branching.depth] == branching.outer
        # Whoever came by the same way once more, and had left in the middle, was thrown out, whatever for.
        reason = next((one for one in reasons if one.level == "varying"), reasons[0] if again else None)
        if reason is not None:
            return FoundLine(where, handler.lineno, text, reason, divergence, kind="caught")
    return None


def _goes_back(branching: Branching) -> bool:
    """The side would go back in one function, with no loop around."""
    after, to = branching.after, branching.culprit
    return not branching.rounds and after is not None and isinstance(to, Stop) and to.line <= after.line


def _raised_on_the_way(search: Search, place: SourcePlace, branching: Branching) -> list[Reason]:
    """Why a call may have raised between where the side left and where the other went on; a `raise` of the program
    itself first."""
    calls = conditions_of(place.function, branching, raising=True)
    reasons = [search.why(place.function, condition) for condition in calls]
    return sorted(reasons, key=lambda reason: reason.source == "exception")
