"""Whom the code names in place of a rank that has ended too soon, as it seems: who came with a call more.

A call that a test on the rank lets one rank make, and that all others have gone on without, shifts every later one. In
the end that rank waits in its last call for peers that have made all of theirs and have left as they should.
"""

from __future__ import annotations

import ast

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import Heuristic
from rankandfile.source.lines.decision import Decision
from rankandfile.source.lines.divergence import ranks_in_words
from rankandfile.source.lines.found_line import FoundLine

from .arms import made_one_more
from .by_few import ON_RANK
from .ways import singled_out, way_of_each

_ONE_MORE = Heuristic(
    "one more before they left",
    "who made a call more by a test on the rank is waited for in vain by nobody, and waits for those that have left",
)


def who_made_one_more(verdict: Verdict, found: FoundLine) -> NamedByCode | None:
    decision, divergence = found.decision, found.divergence
    if verdict.cause != "early_exit" or decision is None or divergence is None or not divergence.exact:
        return None
    side = made_one_more(found)
    if side is None or found.kind != "decision" or decision.reason.source not in ON_RANK or _ONE_MORE.off:
        return None
    others, part = divergence.other_than(side), _on_the_rank(decision)
    names = singled_out(part) if part is not None else None
    if names is None or way_of_each(decision, divergence).get(names) is not side:
        return None
    # Whoever has not gone on in that group may as well have left there.
    went_on = side.call is not None and others.call is not None and side.call.group == others.call.group
    if not went_on or {*side.members} & {one.rank for one in verdict.culprits}:
        return None
    return NamedByCode(
        ranks=side.members,
        doing=f"made a call more than its peers at {found.at}",
        sentence=f"The code decides it: the test lets {ranks_in_words(side)} alone make a call more, and the others "
        "went on without it.",
        cause="rank_conditional",
    )


def _on_the_rank(decision: Decision) -> ast.expr | None:
    """Of a test all of whose parts are to hold, the one that asks for the rank."""
    test, chain = decision.condition.node, decision.reason.chain
    if not isinstance(test, ast.expr) or not chain:
        return None
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return next((part for part in parts if _asks_for(part, chain[0].subject)), None)


def _asks_for(part: ast.expr, subject: str) -> bool:
    return any(isinstance(node, ast.expr) and ast.unparse(node) == subject for node in ast.walk(part))
