"""`rank_conditional`: ranks went different ways, and nothing tells which of them is wrong."""

from __future__ import annotations

from support.reason import gloo_jobs
from support.reason.building import WORLD, Call, Job, case_of, loop
from support.reason.witnesses import C10D, Witnesses, best, blamed


def test_two_ranks_part_and_nobody_is_blamed_but_the_place_is_named() -> None:
    """One makes a call that the other does not: either may be wrong, and both were in `step` (see building.py)."""
    case = case_of(
        Job(
            {WORLD: [0, 1]},
            {
                0: [*loop(gloo_jobs.STEP, 1), Call(WORLD, "broadcast", 4, "a.py:21")],
                1: [*loop(gloo_jobs.STEP, 1), Call(WORLD, "barrier", 1, "a.py:30")],
            },
            backend="gloo",
        )
    )
    verdict = best(case)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("rank_conditional", "supported", [])
    assert "different ways in step, a.py, at lines 21 and 30" in verdict.sentence


def test_the_stacks_name_the_place_where_the_recorder_kept_no_frames() -> None:
    case = case_of(
        Job(
            {WORLD: [0, 1]},
            {
                0: [*loop(gloo_jobs.STEP, 1), Call(WORLD, "broadcast", 4)],
                1: [*loop(gloo_jobs.STEP, 1), Call(WORLD, "barrier", 1)],
            },
            backend="gloo",
        ),
        frames=False,
    )
    witnesses = Witnesses(case)
    assert best(case).cause == "undetermined"
    witnesses.stack(0, [("broadcast", C10D, 3151), ("step", "/workspace/a.py", 21)])
    witnesses.stack(1, [("barrier", C10D, 5356), ("step", "/workspace/a.py", 30)])
    assert best(witnesses.case).cause == "rank_conditional"
