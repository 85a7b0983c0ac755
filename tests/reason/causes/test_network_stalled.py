"""`network_stalled`: all have joined, and the call does not end."""

from __future__ import annotations

from support.reason import absent_rank, gloo_jobs
from support.reason.building import case_of
from support.reason.witnesses import (
    C10D,
    Frame,
    Witnesses,
    best,
    blamed,
)


def test_all_joined_and_all_gave_up() -> None:
    witnesses = Witnesses(case_of(absent_rank.stalled()))
    for rank in range(4):
        witnesses.gave_up(rank, 11)
    verdict = best(witnesses)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("network_stalled", "hypothesis", [])


INSIDE: list[Frame] = [("all_reduce", C10D, 3252), ("step", "/workspace/a.py", 5)]


def test_every_host_stands_in_the_call_that_gloo_does_not_finish() -> None:
    witnesses = gloo_jobs.gloo()
    for rank in range(3):
        witnesses.stack(rank, INSIDE)
    verdict = best(witnesses.case)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("network_stalled", "supported", [])


def test_a_host_that_stands_elsewhere_takes_that_away() -> None:
    witnesses = gloo_jobs.gloo()
    for rank in range(3):
        witnesses.stack(rank, INSIDE if rank else [("all_reduce", C10D, 3252), ("log", "/workspace/b.py", 8)])
    assert best(witnesses.case).cause != "network_stalled"
