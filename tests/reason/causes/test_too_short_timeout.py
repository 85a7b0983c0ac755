"""`too_short_timeout`: a rank came, only later than the timeout allows."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason import absent_rank, broke_off
from support.reason.building import WORLD, Job, case_of
from support.reason.witnesses import Witnesses, at, best, blamed

from rankandfile.model.case import Case
from rankandfile.reason import diagnose

TIMED_OUT = "RuntimeError: [unbound_buffer.cc:78] Timed out waiting 2000ms for recv operation to complete"


def late(by_s: float, *echoes: str) -> Case:
    """All came to one call, rank 0 so much later; the group allows two seconds."""
    job = Job({WORLD: [0, 1, 2]}, {rank: list(broke_off.BODY) for rank in range(3)}, backend="gloo")
    witnesses = Witnesses(case_of(job, waited_s=0.5))
    for rank, words in enumerate(echoes):
        witnesses = broke_off.echo(witnesses, rank, words).exit(rank, 1)
    moved = pl.when(pl.col("rank") == 0).then(pl.col("created_ns") + int(by_s * 1e9)).otherwise("created_ns")
    calls = witnesses.case.calls.with_columns(created_ns=moved, timeout_ms=pl.lit(2000, pl.Int64))
    return replace(witnesses.case, calls=calls)


def test_who_came_after_the_others_had_given_up_came_late_and_nothing_hung() -> None:
    verdict = diagnose(late(3.1, broke_off.LOST, TIMED_OUT, TIMED_OUT)).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "too_short_timeout", [0])
    assert "after the 2 s that the group allows" in verdict.sentence


@pytest.mark.parametrize(
    "case",
    [
        late(1.0, broke_off.LOST, TIMED_OUT, TIMED_OUT),
        late(3.1, TIMED_OUT, TIMED_OUT, TIMED_OUT),
        late(3.1, broke_off.LOST, broke_off.LOST, broke_off.LOST),
    ],
    ids=["in time", "its own patience was over too", "nobody's was"],
)
def test_a_rank_that_may_have_come_in_time_is_not_blamed(case: Case) -> None:
    assert all(blamed(verdict) == [] for verdict in diagnose(case).verdicts)


def test_a_job_that_ended_well_although_watchdogs_gave_up() -> None:
    witnesses = absent_rank.absent().stack(2, at(11, "save"))
    for rank in range(4):
        witnesses.exit(rank, 0)
    for rank in absent_rank.OTHERS:
        witnesses.gave_up(rank, 9, timeout_ms=30_000)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("too_short_timeout", [2])
    assert "within the 30 s" in verdict.sentence
    assert verdict.divergence is not None
    assert (verdict.divergence.kind, [c.ranks for c in verdict.divergence.cohorts]) == (
        "absent",
        ["0,1,3", "2"],
    )
