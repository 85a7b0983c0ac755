"""`different_collective`: a rank asked for another operation than the others."""

from __future__ import annotations

from support.reason import data_parallel, loops, no_dumps
from support.reason.building import WORLD, Call, Step, case_of, loop
from support.reason.witnesses import best, blamed


def test_all_came_and_one_asked_for_something_else() -> None:
    verdict = best(no_dumps.all_gave_up(besides=(3,)).gave_up(3, 9, "BROADCAST", 1, group="default_pg"))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("different_collective", "supported", [3])


def test_all_came_and_half_asked_for_something_else() -> None:
    witnesses = no_dumps.all_gave_up(besides=(2, 3))
    for rank in (2, 3):
        witnesses.gave_up(rank, 9, "BROADCAST", 1, group="default_pg")
    verdict = best(witnesses)
    assert blamed(verdict) == []
    assert "the logs alone do not say" in verdict.sentence


def test_another_operation_from_the_same_line() -> None:
    """A helper for all operations: only the operation tells the calls apart."""
    other: list[Step] = [*loop(loops.BODY, 5), loops.BACKWARD._replace(op="broadcast")]
    verdict = loops.verdict_of({**loops.others(4), 1: other})
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (True, "different_collective", [1])
    few = loops.verdict_of({**loops.others(3), 1: other})
    assert (few.hang, blamed(few), few.confidence) == (True, [1], "supported"), (
        "what strikes one seldom strikes two"
    )
    even = loops.verdict_of({**loops.others(2), 1: other})
    assert (even.hang, blamed(even)) == (True, []), "one against one is no majority"


def test_another_operation_on_one_rank() -> None:
    other = [
        *loop(data_parallel.STEP, 3),
        Call(WORLD, "broadcast", 1024, "trainer.py:75"),
        *data_parallel.STEP,
    ]
    for order in (None, 1, 2, 3):
        verdict = data_parallel.only(case_of(data_parallel.world(4, {1: other}), shuffle=order))
        assert blamed(verdict) == [1]
        assert verdict.cause in ("different_collective", "extra_collective")
