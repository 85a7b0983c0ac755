"""Victims are named where somebody is to blame, and nowhere else."""

from __future__ import annotations

from support.reason import absent_rank

from rankandfile import pipeline
from rankandfile.model.ranks import parse_ranks
from rankandfile.reason import conclude, gather


def test_where_nothing_is_decided_nobody_is_a_victim() -> None:
    case = absent_rank.lost().case
    (verdict,) = pipeline.diagnose(case).diagnosis.verdicts
    assert (verdict.cause, verdict.culprits, verdict.victims) == ("undetermined", [], "")
    # The source is still shown whoever waits.
    assert conclude(gather(case)).verdicts[0].victims


def test_where_somebody_is_to_blame_those_who_wait_are_victims() -> None:
    (verdict,) = pipeline.diagnose(absent_rank.lost().exit(2, "SIGKILL").case).diagnosis.verdicts
    assert [one.rank for one in verdict.culprits] == [2] and parse_ranks(verdict.victims) == [0, 1, 3]
