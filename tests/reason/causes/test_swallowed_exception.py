"""`swallowed_exception`: a rank caught an exception and went on without the call."""

from __future__ import annotations

from support.reason import absent_rank
from support.reason.building import WORLD, Job, Step, case_of, loop
from support.reason.witnesses import Witnesses, best, blamed


def test_an_exception_that_was_caught() -> None:
    programs: dict[int, list[Step]] = {rank: loop(absent_rank.BODY, 8) for rank in range(4)}
    programs[2] = [*loop(absent_rank.BODY, 4), absent_rank.BODY[1], *loop(absent_rank.BODY, 3)]
    skipped = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs)))
    assert best(skipped).cause == "skipped_collective"
    verdict = best(skipped.raised(2, "OSError: bad shard").exit(2, "SIGABRT"))
    assert (verdict.cause, blamed(verdict)) == ("swallowed_exception", [2])
    assert verdict.alternatives[0].cause == "skipped_collective"


def test_an_exception_that_all_met_sets_nobody_apart() -> None:
    programs: dict[int, list[Step]] = {rank: loop(absent_rank.BODY, 8) for rank in range(4)}
    programs[2] = [*loop(absent_rank.BODY, 4), absent_rank.BODY[1], *loop(absent_rank.BODY, 3)]
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs)))
    for rank in range(4):
        witnesses.raised(rank, "OSError: bad shard")
    assert best(witnesses).cause == "skipped_collective"
