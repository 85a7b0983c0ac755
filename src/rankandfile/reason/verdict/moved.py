"""Whether two looks at one rank show that it got on between them: then nothing stood still up to the later look."""

from __future__ import annotations

from rankandfile.reason.facts import Facts


def moved(facts: Facts) -> bool:
    return any(one.moved for one in facts.contradictions)


def over_by_dumps(facts: Facts) -> frozenset[int]:
    """Ranks whose dump was written after their stack was taken, and has the call ended that the stack is in."""
    return frozenset(
        rank for one in facts.contradictions if one.moved and (one.gap_ns or 0) > 0 for rank in one.ranks
    )


def gap_ns(facts: Facts) -> int | None:
    """How far the looks at ranks that moved lie apart; None: nothing tells."""
    gaps = [one.gap_ns for one in facts.contradictions if one.moved]
    return None if None in gaps else max((abs(gap) for gap in gaps if gap is not None), default=None)
