"""The code around the divergence, with the lines that each cohort went over marked."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rankandfile.model.diagnosis import Excerpt, ExcerptLine
from rankandfile.source.dependence.syntax import if_of
from rankandfile.source.program.modules import Module
from rankandfile.source.program.places import SourcePlace

from .call_paths import Stop
from .found_line import FoundLine

_AROUND = 2
#: Lines in between that are shown rather than left out.
_GAP = 6
_MOST = 60
_WIDEST = 200


def excerpts(found: FoundLine) -> list[Excerpt]:
    """The function where the ranks diverged; and that of the handler, if one stands elsewhere."""
    sides = _sides(found)
    if found.decision is None:
        return [
            _excerpt(found.place, {found.line}, {}, {found.line} if found.condition else set(), set(), sides)
        ]
    drawn = [_fork(found, sides)]
    if found.place is not found.decision.place:
        last = len(sides) - 1
        over = {0, last} if found.kind == "changed" else {last}
        handler = _excerpt(
            found.place, {found.line, found.place.line}, {found.line: over}, {found.line}, set(), sides
        )
        drawn.insert(0, handler)
    return drawn


def _sides(found: FoundLine) -> list[str]:
    if found.divergence is None:
        return []
    return [found.divergence.normal.ranks, found.divergence.culprit.ranks]


def _fork(found: FoundLine, sides: list[str]) -> Excerpt:
    assert found.decision is not None
    branching, condition, place = found.decision.branching, found.decision.condition, found.decision.place
    paths: dict[int, set[int]] = {condition.line: {0, 1}}
    calls: set[int] = set()
    if branching.after is not None:
        paths.setdefault(branching.after.line, set()).update({0, 1})
    for number, stop in enumerate((branching.normal, branching.culprit)):
        if isinstance(stop, Stop):
            paths.setdefault(stop.line, set()).add(number)
            calls.add(stop.line)
    culprit = condition.there if branching.normal != "end" else condition.here
    taker = 1 if culprit == "taken" else 0
    for line in _branch(place, condition.node):
        paths.setdefault(line, set()).add(taker)
    marked = {found.line} if found.place is place else {condition.line}
    return _excerpt(place, set(paths) | marked, paths, marked, calls, sides)


def _branch(place: SourcePlace, test: ast.AST) -> Iterable[int]:
    """Lines that run only if the test is met."""
    node = if_of(place.function.node, test)
    if node is None:
        return ()
    return range(node.body[0].lineno, (node.body[-1].end_lineno or node.body[-1].lineno) + 1)


def _excerpt(
    place: SourcePlace,
    lines: set[int],
    paths: dict[int, set[int]],
    conditions: set[int],
    calls: set[int],
    sides: Sequence[str],
) -> Excerpt:
    module = place.module
    shown = [
        ExcerptLine(
            number=number,
            text=module.lines[number - 1][:_WIDEST].rstrip(),
            cohorts=sorted(paths.get(number, ())),
            mark="condition" if number in conditions else "call" if number in calls else "",
        )
        for number in _shown(module, lines | {place.function.first_line})
    ]
    return Excerpt(
        file=place.path, function=place.function.name, cohorts=list(sides), lines=shown, note=place.doubt
    )


def _shown(module: Module, lines: set[int]) -> list[int]:
    """The lines and what is around them; small gaps are filled."""
    last = len(module.lines)
    found: set[int] = set()
    ordered = sorted(line for line in lines if 1 <= line <= last)
    for line in ordered:
        found.update(range(max(1, line - _AROUND), min(last, line + _AROUND) + 1))
    for one, other in pairwise(ordered):
        if other - one <= _GAP:
            found.update(range(one, other + 1))
    return sorted(found)[:_MOST]
