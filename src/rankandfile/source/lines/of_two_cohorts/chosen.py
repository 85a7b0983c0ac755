"""The line at which two cohorts went different ways: of all that could have done it, what most likely did."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.diagnosis import Divergence, Verdict
from rankandfile.source.dependence import why
from rankandfile.source.dependence.reason import UNKNOWN
from rankandfile.source.dependence.syntax import of_a_dictionary
from rankandfile.source.dependence.value import ORDERS
from rankandfile.source.lines.arguments import Origin, given
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.decision import MOST_SUPPOSED, Decision, decisions
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.from_logs.thrown_out import thrown_out
from rankandfile.source.lines.loop_order import Going, goes_by_items, in_order, loop_order
from rankandfile.source.lines.threads.handed_on import way_before
from rankandfile.source.program.places import SourcePlace

from .again.in_another_go import in_another_go
from .again.run_again import run_again
from .another_callee import another_callee
from .barred import barred
from .decided import decided
from .groups_in_order import made_in_order
from .inside_framework import inside_framework
from .items_behind import least_behind, loops_behind
from .one_call import argument, of_those_inside, together
from .others_missing import leaves_some_unexplained
from .plain_sight import filled_elsewhere, in_plain_sight
from .two_ways import branchings_of, sides_of
from .without_a_test import without_a_test

#: Where nobody saw the ranks in step before, nothing more may be supposed of how they came to where they are.
_MOST_UNSEEN = 1
#: Nor where the evidence does not tell what happened.
_MOST_UNDETERMINED = 2


def diverged(search: Search, verdict: Verdict, found: list[CodeDivergence]) -> FoundLine | None:
    """The line at which two cohorts of the verdict went different ways, by the decision that most likely did it;
    `found`: where the evidence shows two call paths."""
    first = found[0] if found else None
    same = first if first is not None and _from_one_place(first) else None
    if same is None and verdict.divergence is not None and verdict.divergence.kind == "cycle":
        # Of a circle any two that came from one place show in which order each went.
        same = next((divergence for divergence in found if _from_one_place(divergence)), None)
    if verdict.cause == "group_mismatch" and first is not None and (made := made_in_order(search, first)):
        return made
    if same is not None and verdict.family == "arguments":
        given = argument(search, verdict, same)
        reason = given.reason if given is not None else None
        explained = reason is not None and reason.level == "varying" and reason.source not in ORDERS
        ordered = None if explained else _ordered(search, same)
        # Of an argument that nothing makes differ, items that came in another order may be the cause; that ranks go
        # over other items, as over their own data, is no news there.
        came_so = ordered is not None and ordered.reason is not None and ordered.reason.source in ORDERS
        tells = given is not None and (reason is None or reason.level != "uniform")
        by_items = not tells and goes_by_items(search.places, same.culprit.path)
        return ordered if ordered is not None and (came_so or by_items) else given
    if same is None and verdict.cause == "root_mismatch" and verdict.divergence is not None:
        # Who is done with the call has gone on from it: where it stands now is no other way to it.
        return of_those_inside(search, verdict, found) or together(search, verdict)
    if verdict.cause == "group_mismatch" and first is not None and first.culprit.path:
        return argument(search, verdict, first)
    if same is not None and (ordered := _ordered(search, same, verdict.divergence)) is not None:
        return ordered
    if same is not None and verdict.divergence is not None and verdict.divergence.kind == "argument":
        return argument(search, verdict, same)
    if verdict.cause == "swallowed_exception" and (kept := _kept(search, found)) is not None:
        return kept
    best: Decision | None = None
    chosen: CodeDivergence | None = None
    for divergence in found:
        sides = sides_of(search, divergence)
        for decision in decisions(search.places, branchings_of(search, divergence), sides)[:1]:
            most = _MOST_UNDETERMINED if verdict.cause == "undetermined" else MOST_SUPPOSED
            too_much = decision.weight[0] > (most if divergence.exact else min(most, _MOST_UNSEEN))
            if too_much or leaves_some_unexplained(verdict, decision, divergence, sides):
                continue
            # The rest of the weight compares decisions of one pair; of the pairs the best founded comes first.
            if best is None or decision.weight[0] < best.weight[0]:
                best, chosen = decision, divergence
    if (another := in_another_go(search, found, best)) is not None:
        return another
    if best is not None and chosen is not None and best.reason.level == "varying":
        # A wrapper's handler is the same for all that it wraps: that this function is tried again is said above it.
        again = run_again(search, chosen) if best.condition.kind == "except" else None
        # Nor does anything show that the others came to a wrapper's test.
        alone = barred(search, chosen) if best.branching.guessed else None
        return again or alone or _other_item(search, best, chosen) or decided(search, best, chosen)
    if (thrown := thrown_out(search, found)) is not None:
        return thrown
    for divergence in found:
        # A line that shows why ranks differ comes before a condition of which nothing is known.
        shown = without_a_test(search, divergence)
        if shown is not None and (best is None or (shown.reason and shown.reason.level == "varying")):
            return shown
    if best is not None and chosen is not None:
        return decided(search, filled_elsewhere(search, chosen) or best, chosen)
    if (
        same is None
        and (shown := inside_framework(search, found) or in_plain_sight(search, found)) is not None
    ):
        return shown
    if same is not None:
        # What is handed over says nothing of an order.
        return None if _in_another_order(verdict) else argument(search, verdict, same)
    for divergence in found:
        if (put_in := filled_elsewhere(search, divergence)) is not None:
            return decided(search, put_in, divergence)
    return together(search, verdict)


def _in_another_order(verdict: Verdict) -> bool:
    of = verdict.divergence
    return verdict.cause == "order_inversion" and of is not None and of.kind == "cycle"


def _other_item(search: Search, best: Decision, chosen: CodeDivergence) -> FoundLine | None:
    """Both are in one round of one loop, each at an item of its own: nothing need be supposed of loops further out."""
    if best.branching.rounds == 0:
        return None
    found = another_callee(search, chosen)
    return found if found is not None and found.kind == "items" else None


def _ordered(search: Search, same: CodeDivergence, of: Divergence | None = None) -> FoundLine | None:
    """The loop around a call of one place, whose items came in another order on one side."""
    path = same.culprit.path
    # In a circle they are in calls of several groups: what chose the group says more than what is done in each.
    of_groups = of is not None and of.kind == "cycle"
    ordered = (
        (
            (_of_chosen_items(search, same) or _as_put_in(search, same) or _least(search, same))
            if of_groups
            else None
        )
        or loop_order(search.places, path)
        or loop_order(search.places, way_before(search, path))
        or _of_chosen_items(search, same)
    )
    if ordered is None:
        return None
    return FoundLine(ordered.place, ordered.line, ordered.text, ordered.reason, same, kind="order")


def _of_chosen_items(search: Search, same: CodeDivergence) -> Origin | None:
    """Which group, or which peer, the call is for was taken from a loop's items: where those were put in order."""
    for where, loop in _loops_that_chose(search, same, "group_mismatch", "root_mismatch"):
        if (found := in_order(search.places, where, loop, chosen=True)) is not None:
            return found
    return None


def _as_put_in(search: Search, same: CodeDivergence) -> Origin | None:
    """Of a circle: the loop over a dictionary by whose items the group was chosen. Its order is that in which they were
    put in, and why that differs is not shown."""
    for where, loop in _loops_that_chose(search, same, "group_mismatch"):
        if of_a_dictionary(loop.items):
            return Origin(where, loop.line, where.module.line_at(loop.line), UNKNOWN)
    return None


def _least(search: Search, same: CodeDivergence) -> Origin | None:
    """Of a circle: where the group was chosen by which of several was the least, or the most. What each counts is
    another question."""
    for path, place, value in _arguments(search, same, "group_mismatch"):
        for where, call in least_behind(search, path, place, [value]):
            if why(search.program, where.function, call).level in ("varying", "axes"):
                return Origin(where, call.lineno, where.module.code_at(call.lineno), UNKNOWN)
    return None


def _loops_that_chose(
    search: Search, same: CodeDivergence, *asked: str
) -> Iterator[tuple[SourcePlace, Going]]:
    """The loops by whose items the arguments were chosen that these causes are about."""
    for path, place, value in _arguments(search, same, *asked):
        yield from loops_behind(search, path, place, [value])


def _arguments(
    search: Search, same: CodeDivergence, *asked: str
) -> Iterator[tuple[CallPath, SourcePlace, ast.expr]]:
    """What these causes are about, in the call of both; with the way to where it is given."""
    path = same.culprit.path
    for cause in asked:
        for depth, value in given(search.places, path, cause):
            place = search.places.find(path[depth])
            if place is not None:
                yield path[: depth + 1], place, value


def _kept(search: Search, found: list[CodeDivergence]) -> FoundLine | None:
    """Of a rank that is known to have caught an exception: the one handler between the two ways."""
    for divergence in found:
        ways = [way for way in branchings_of(search, divergence) if not way.guessed]
        every = decisions(search.places, ways, sides_of(search, divergence), seeming_equal=True)
        handlers = [d for d in every if d.condition.kind == "except"]
        if len({(d.place.path, d.condition.line) for d in handlers}) == 1:
            return decided(search, handlers[0], divergence)
    return None


def _from_one_place(divergence: CodeDivergence) -> bool:
    return bool(divergence.normal.path) and divergence.normal.path == divergence.culprit.path
