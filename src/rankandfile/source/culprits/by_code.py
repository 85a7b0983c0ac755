"""Whom the code names, where the evidence shows two paths and nobody who is out of line.

A test that singles out ranks by their number, as `if rank == 0:` or `if rank != 0:` does, names those ranks, whichever
way they took. Any other test says as much for one side as for the other: nobody is blamed. Nor is anybody who waits on
the same side as all who wait.
"""

from __future__ import annotations

import ast

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import Heuristic
from rankandfile.model.ranks import parse_ranks
from rankandfile.source.lines.divergence import Side
from rankandfile.source.lines.found_line import FoundLine

_ON_RANK = ("rank_api", "environment")
#: A test of the rank itself is not far from where the rank is asked for.
_DIRECT = 3
_ON_ITS_RANK = Heuristic(
    "test on the rank", "a test for a rank by its number singles out those that it names"
)


def named_by_code(verdict: Verdict, found: FoundLine) -> NamedByCode | None:
    """None where the evidence names somebody already, or the code nobody."""
    if (
        not verdict.hang
        or verdict.named
        or not (verdict.family == "paths" or verdict.cause == "undetermined")
    ):
        return None
    decision, divergence = found.decision, found.divergence
    if found.kind != "decision" or decision is None or divergence is None or not divergence.exact:
        return None
    condition = decision.condition
    on_rank = decision.reason.source in _ON_RANK and len(decision.reason.chain) <= _DIRECT
    if condition.kind != "if" or not isinstance(condition.node, ast.expr) or not on_rank:
        return None
    ours, theirs = condition.here, condition.there
    if decision.branching.normal == "end":
        ours, theirs = theirs, ours
    sides = {ours: divergence.normal, theirs: divergence.culprit}
    side = _singled_out(condition.node)
    if sides.keys() != {"taken", "not taken"} or side is None or _ON_ITS_RANK.off:
        return None
    ranks = _ranks(sides[side])
    others = _ranks(sides["not taken" if side == "taken" else "taken"])
    if verdict.cause == "undetermined" and not _awaited(verdict, ranks, others):
        return None
    file = found.place.path.rsplit("/", 1)[-1]
    took = "took it" if side == "taken" else "did not take it"
    return NamedByCode(
        ranks=ranks,
        doing=f"went another way than its peers at {file}:{condition.line}",
        sentence=f"The code decides it: the test singles out the ranks that {took}.",
    )


def _singled_out(test: ast.expr) -> str | None:
    """Which outcome of a test on the rank is that of the ranks it names."""
    match test:
        case ast.Compare(ops=[ast.Eq() | ast.In()]):
            return "taken"
        case ast.Compare(ops=[ast.NotEq() | ast.NotIn()]):
            return "not taken"
    return None


def _awaited(verdict: Verdict, ranks: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """All who wait took the other way."""
    waiting = {rank for wait in verdict.waits for rank in _parsed(wait.ranks)}
    return bool(waiting) and waiting <= set(others) and not waiting & set(ranks)


def _ranks(side: Side) -> tuple[int, ...]:
    return tuple(_parsed(side.ranks)) or (side.rank,)


def _parsed(ranks: str) -> list[int]:
    try:
        return parse_ranks(ranks)
    except ValueError:
        return []
