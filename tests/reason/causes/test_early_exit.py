"""`early_exit`: a rank ended well while others still wait for it."""

from __future__ import annotations

from pathlib import Path

from support.reason import absent_rank
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, hidden, loop
from support.reason.witnesses import Witnesses, best, blamed

from rankandfile.model.case import Case
from rankandfile.model.claims import LeftOut
from rankandfile.model.diagnosis import Verdict
from rankandfile.pipeline import Options, run
from rankandfile.render.headline import headline


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


def row(calls: int, last: int = 0) -> list[Step]:
    """So many calls of one line in a row, each round of it two of other sizes, and another function's after them."""
    gradients: list[Step] = [Call(WORLD, "all_reduce", 64 >> n % 2, "ppo.py:42") for n in range(calls)]
    return [*gradients, *([Call(WORLD, "all_reduce", 3, "stats.py:15")] * (not last))]


def broken_off(after: int) -> Verdict:
    """Rank 1 comes to the statistics after so many of the eight calls that all made before them each time."""
    programs = {
        rank: [*loop(row(8), 3), *(row(after) if rank == 1 else row(after + 1, last=True))]
        for rank in range(3)
    }
    return best(case_of(Job({WORLD: [0, 1, 2]}, programs, stalled=frozenset({(WORLD, 28 + after)}))))


def test_who_comes_to_what_ends_a_row_of_calls_after_fewer_than_each_time_before_left_it() -> None:
    verdict = broken_off(after=4)
    assert (verdict.cause, blamed(verdict)) == ("early_exit", [1])
    assert "It may have left the loop" in verdict.sentence
    # One round alone may as well have been left out in the middle of the row.
    verdict = broken_off(after=6)
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [1])
    assert "left the loop" not in verdict.sentence


def test_that_it_left_the_loop_is_not_said_where_its_calls_alone_are_known() -> None:
    """A round of calls need be no loop of the program, and what comes behind it may stand in the loop as well."""
    verdict = broken_off(after=4)
    assert "left the loop early" not in verdict.sentence
    assert verdict.culprits[0].doing == "is in the all_reduce at stats.py:15"
    assert verdict.confidence == "supported" and headline(verdict, 3) == "HANG: rank 1 left early"
    assert {"rank_conditional", "extra_collective"} <= {other.cause for other in verdict.alternatives}
    assert not any(isinstance(claim, LeftOut) for claim in verdict.claims)


def test_what_the_source_decides_is_no_doubt_any_more() -> None:
    """By the records alone rank 2 may be in the loop still; the source shows the branch that led it out."""
    example = Path(__file__).parents[3] / "examples" / "early-stop"
    still = {"rank_conditional", "extra_collective"}
    for sources in ((), (example / "src",)):
        (verdict,) = run([example / "evidence"], Options(jobs=1, sources=sources)).diagnosis.verdicts
        assert verdict.cause == "early_exit"
        assert ("may have left the loop" in verdict.sentence) is not bool(sources)
        assert (still <= {other.cause for other in verdict.alternatives}) is not bool(sources)
