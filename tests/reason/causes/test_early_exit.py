"""`early_exit`: a rank ended well while others still wait for it."""

from __future__ import annotations

from support.reason import absent_rank
from support.reason.building import WORLD, Call, Job, Stop, case_of, hidden, loop
from support.reason.witnesses import Witnesses, best, blamed

from rankandfile.model.case import Case


def test_exit_code_0_while_others_wait() -> None:
    verdict = best(absent_rank.lost().exit(2, 0))
    assert (verdict.cause, blamed(verdict)) == ("early_exit", [2])
    assert "uneven_inputs" in [a.cause for a in verdict.alternatives]


def stages(done: int) -> Case:
    """The last stages make a call that nobody made before; the others stand in an unrecorded transfer of a round."""
    rounds = loop([Call(WORLD, "all_reduce", 64, "a.py:5"), Call(WORLD, "all_reduce", 8, "a.py:9")], 3)
    last = Call(WORLD, "all_reduce", 1, "a.py:20")
    programs = {rank: [*rounds, last if rank >= 4 - done else Stop()] for rank in range(4)}
    witnesses = Witnesses(hidden(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))))
    for rank in range(4 - done):
        witnesses.stack(
            rank, [("receive", "/workspace/transfer.py", 25 + rank), ("step", "/workspace/a.py", 5)]
        )
    return witnesses.case


def test_the_few_that_came_first_to_a_call_have_left_the_rounds_of_the_others() -> None:
    verdict = best(stages(done=1))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("early_exit", "supported", [3])
    assert "ranks 0-2 are in the next round of what came before it, rank 0 in" in verdict.sentence


def test_where_as_many_are_in_the_rounds_they_have_not_left() -> None:
    assert best(stages(done=2)).cause != "early_exit"
