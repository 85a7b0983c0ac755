"""`host_slow`: a rank's process moves, and comes late."""

from __future__ import annotations

from support.reason import absent_rank
from support.reason.witnesses import at, best, blamed


def test_a_stack_that_moves_is_slow_and_not_stuck() -> None:
    verdict = best(absent_rank.absent().stack(2, at(10), at(14), at(10)))
    assert (verdict.cause, blamed(verdict)) == ("host_slow", [2])
    assert "moving between 3 snapshots" in verdict.sentence
