"""Whom the rounds before do not name: several ranks against as many, by what is each one's own.

What strikes one rank seldom strikes two alike. Where a test of each rank's own data parts two ranks from two, both ways
are of the same program: that all went one way in the rounds before is what their data happened to say. Calls that go on
in step behind a call left out, or made besides, are more than that.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Divergence, Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.ranks import parse_ranks
from rankandfile.source.culprits.by_few import sides
from rankandfile.source.lines.found_line import FoundLine

_SEVERAL = 2


def as_many(verdict: Verdict, found: FoundLine, named: NamedByCode | None) -> bool:
    """Whether the side that is blamed is as large as the other, and only its own data speaks against it."""
    decision, divergence = found.decision, found.divergence
    told = verdict.divergence
    if told is None or told.kind != "substituted" or verdict.family != "paths":
        return False
    if found.kind != "decision" or decision is None or divergence is None:
        return False
    one, other = (set(side.members) for side in sides(divergence))
    own_data = found.reason is not None and found.reason.source == "local_data"
    return (
        own_data
        and decision.condition.kind == "if"
        and len(one) == len(other) >= _SEVERAL
        and (set(named.ranks) if named else {culprit.rank for culprit in verdict.culprits}) in (one, other)
        and not _more_did_alike(told, one, other)
    )


def _more_did_alike(told: Divergence, one: set[int], other: set[int]) -> bool:
    """Whether more ranks than these made the call of one side, having come to it in another way."""
    made = [
        ({*parse_ranks(cohort.ranks)}, (call.op, call.file, call.line))
        for cohort in told.cohorts
        if (call := cohort.call) is not None
    ]
    those = [call for ranks, call in made if ranks in (one, other)]
    return any(call in those for ranks, call in made if ranks not in (one, other))
