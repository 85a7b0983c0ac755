"""`no_hang`: nothing hung."""

from __future__ import annotations

from support.reason import absent_rank, data_parallel, gloo_jobs, loops, transfers
from support.reason.building import WORLD, Job, Step, case_of, hidden, loop
from support.reason.witnesses import (
    Witnesses,
    at,
    best,
    blamed,
)

from rankandfile.reason import diagnose


def test_a_job_that_ended_well_did_not_hang() -> None:
    witnesses = absent_rank.absent()
    for rank in range(4):
        witnesses.exit(rank, 0)
    verdict = best(witnesses)
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "no_hang", [])


def test_hidden_transfers_of_a_job_that_ended_well_hang_in_nothing() -> None:
    programs = {rank: loop(gloo_jobs.STEP, 2) for rank in range(3)}
    witnesses = Witnesses(hidden(case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo"))))
    assert best(witnesses.case).hang
    for rank in range(3):
        witnesses.exit(rank, 0)
    verdict = best(witnesses.case)
    assert (verdict.hang, verdict.cause) == (False, "no_hang")
    assert "exited with code 0" in verdict.sentence


def test_the_same_collective_from_two_places_is_no_departure() -> None:
    """Rank 0 has its own branch for one call and stays in step: its absence elsewhere is what counts."""
    own: list[Step] = [loops.BACKWARD._replace(site="trainer.py:70"), loops.NORM, loops.LOSS]
    verdict = loops.verdict_of({**loops.others(4), 0: loop(own, 8), 2: loop(loops.BODY, 6)})
    assert blamed(verdict) == [2]
    healthy = loops.verdict_of({**loops.others(4), 0: loop(own, 8)})
    assert healthy.cause == "no_hang"


def test_healthy() -> None:
    for backend in ("gloo", "nccl"):
        verdict = data_parallel.only(case_of(data_parallel.world(4, {}, backend=backend)))
        assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "no_hang", [])


def test_a_rank_without_a_dump_and_others_at_rest_are_no_sign_of_health() -> None:
    job = data_parallel.world(4, {}, backend="gloo")
    resting = best(case_of(job, waited_s=60, lost=[3]))
    assert (resting.hang, resting.cause, blamed(resting)) == (None, "undetermined", [])
    at_work = best(case_of(job, waited_s=0.5, lost=[3]))
    assert (at_work.hang, at_work.cause) == (False, "no_hang")


def test_a_healthy_pipeline() -> None:
    for ring in (None, 12):
        verdict = diagnose(case_of(transfers.job(), ring=ring)).verdicts[0]
        assert (verdict.cause, verdict.hang) == ("no_hang", False)


def test_a_verdict_is_taken_back_where_the_call_has_ended_after_all() -> None:
    witnesses = absent_rank.absent().stack(2, at(10), at(10))
    assert best(witnesses).hang
    for rank in absent_rank.OTHERS:
        witnesses.worked(rank, went_on_s=31.0)
    verdict = best(witnesses)
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "no_hang", [])
    assert "ended 31 s after the job was looked at; rank 2 was late, and not stuck" in verdict.sentence
