"""Which way each side of a divergence went at its test, as claims: the line behind the test on which a side was seen.

What is claimed is held against the text once more: a line inside the arm that a rank did not take shows nothing, nor
one to which it can have come either way. What each rank is in the job may show it all the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rankandfile.model.claims import TookBranch
from rankandfile.model.ranks import format_ranks
from rankandfile.source.dependence.syntax import spans, text
from rankandfile.source.flow import Condition
from rankandfile.source.program.places import SourcePlaces

from .call_paths import CallPath, Frame, Stop, first_unlike
from .decision import Decision
from .divergence import CodeDivergence, Side
from .found_line import FoundLine
from .of_two_cohorts.either_way import shown
from .of_two_cohorts.two_ways import asked, qualified

_LONGEST = 80
_TRUE = {"taken", "true", "another round", "holds", "raised", "swallowed", "matched"}


def took_branch(found: FoundLine, places: SourcePlaces) -> Iterator[tuple[str, TookBranch]]:
    """The outcome in a word, and the claim, of each side that was seen behind the test, and can have come there by that
    outcome alone; the culprit's first."""
    decision, divergence = found.decision, found.divergence
    if decision is None or divergence is None:
        return
    if (decision.place.path, decision.condition.line) != (found.place.path, found.line):
        return
    condition, branching = decision.condition, decision.branching
    ours, theirs = decision.outcomes
    for ranks, stop, outcome, side in (
        (decision.culprit, branching.culprit, theirs, divergence.culprit),
        (decision.normal, branching.normal, ours, divergence.normal),
    ):
        # Whether it came into the function at all is not known of a guess.
        passed = stop == "end" and not branching.guessed
        left = _left(divergence.before, side, branching.depth) if passed else None
        behind = isinstance(stop, Stop) and _shows(decision, stop.line, outcome in _TRUE)
        seen = stop if isinstance(stop, Stop) and behind else left
        if not ranks or seen is None:
            continue
        only_so = _only_so(decision, divergence, side, outcome, places)
        if only_so or decision.by_number:
            yield (
                outcome,
                TookBranch(
                    ranks=format_ranks(_whole(side, ranks) if only_so else ranks),
                    file=branching.frame.file,
                    line=condition.line,
                    truth=outcome in _TRUE,
                    shown_by=seen.line,
                    shown_in=left.file if left is not None else None,
                    part=part_of(condition),
                ),
            )


def _whole(side: Side, able: Sequence[int]) -> Sequence[int]:
    """All of a cohort: where its way was taken upon one outcome alone, that goes for those who were not asked, too,
    unless the source keeps some that were asked from it."""
    return side.members if set(able) == {*asked(side)} else able


def part_of(condition: Condition) -> str | None:
    """The part of a test that alone is known to have parted the ranks, as written; None: the whole test did."""
    if condition.kind != "boolop" or not isinstance(condition.node, ast.expr):
        return None
    return text(condition.node, _LONGEST)


def _only_so(
    decision: Decision, divergence: CodeDivergence, side: Side, outcome: str, places: SourcePlaces
) -> bool:
    """Whether the side cannot have come to where it was seen upon another outcome."""
    branching = decision.branching
    of_culprit = side is divergence.culprit
    own, other = branching.normal, branching.culprit
    others = divergence.culprit
    if of_culprit:
        own, other, others = other, own, divergence.normal
    made = ((branching.after, qualified(places, divergence.before)), (other, qualified(places, others.path)))
    return shown(decision, outcome, own, made, places)


def _left(before: CallPath, side: Side, depth: int) -> Frame | None:
    """Where who has left the function went on: the line further out of its next call, another than it was at."""
    at = first_unlike(before, side.path)
    if not before or at is None or at >= depth or side.path[at][:2] != before[at][:2]:
        return None
    return side.path[at]


def _shows(decision: Decision, line: int, truth: bool) -> bool:
    """Not from the arm that is not taken, unless a loop further out came round."""
    owner = next((one for one in decision.place.function.nodes if _owns(one, decision.condition.node)), None)
    if not isinstance(owner, ast.If | ast.While | ast.For) or decision.branching.rounds:
        return True
    other = owner.orelse if truth else owner.body
    return not any(spans(node, line) for node in other)


def _owns(statement: ast.AST, decides: ast.AST) -> bool:
    if isinstance(statement, ast.If | ast.While):
        return statement.test is decides
    return isinstance(statement, ast.For) and statement.iter is decides
