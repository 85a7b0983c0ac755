"""`extra_collective`: a rank made a call that the others do not make."""

from __future__ import annotations

from support.reason import loops
from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import blamed

from rankandfile.reason import diagnose


def test_extra() -> None:
    adding: list[Step] = [
        *loop(loops.BODY, 5),
        loops.BACKWARD,
        Call(WORLD, "broadcast", 1, "save.py:12"),
        loops.NORM,
        loops.LOSS,
        *loop(loops.BODY, 2),
    ]
    verdict = loops.verdict_of({**loops.others(4), 0: adding})
    assert (verdict.cause, blamed(verdict)) == ("extra_collective", [0])
    assert verdict.divergence is not None and verdict.divergence.seq == 17
    assert verdict.location is not None and verdict.location.file.endswith("save.py")


def test_the_ring_lost_the_call_that_was_one_too_many() -> None:
    """What the rank made where the rings begin is no call that the others never make."""
    body: list[Step] = [Call(WORLD, "all_reduce", 64, f"layers.py:{line}") for line in (10, 20, 30, 40)]
    adding: list[Step] = [*loop(body, 5), body[0], Call(WORLD, "all_reduce", 64, "save.py:12"), *body[1:]]
    verdict = loops.verdict_of(
        {**{r: loop(body, 20) for r in range(4)}, 1: [*adding, *loop(body, 14)]}, ring=30
    )
    assert (verdict.cause, blamed(verdict)) == ("extra_collective", [1])
    assert "1 call ahead since before the oldest call that the rings kept" in verdict.sentence
    assert "history before seq 52 is lost on ranks 0-3" in verdict.sentence
    assert (verdict.location, verdict.confidence) == (None, "supported")
    assert any("history before seq 52" in missing.what for missing in verdict.missing_evidence)


def test_a_call_made_twice_in_every_round_is_one_story_from_its_first_time_on() -> None:
    """Three calls of one size, and a rank that makes the first of them again from the sixth round on: every few rounds
    all of them stand at the same line, by chance."""
    body: list[Step] = [Call(WORLD, "all_reduce", 64, f"estimate.py:{line}") for line in (24, 28, 40)]
    end: list[Step] = [Call(WORLD, "barrier", 1, "fly.py:35")]
    programs = {rank: [*loop(body, 14), *end] for rank in range(3)}
    programs[1] = [*loop(body, 5), *loop([body[0], *body], 8)]
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo"))).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("extra_collective", [1])
    assert verdict.divergence is not None and verdict.divergence.seq == 17
    assert "twice in a row" in verdict.sentence and "The same happened 6 times more" in verdict.sentence
