"""`dtype_mismatch`: ranks asked for different types in one call."""

from __future__ import annotations

from support.reason import loops
from support.reason.building import WORLD, Call, Step, loop
from support.reason.witnesses import blamed


def test_dtype() -> None:
    odd: list[Step] = [*loop(loops.BODY, 5), loops.BACKWARD, loops.NORM._replace(dtype="Double"), loops.LOSS]
    verdict = loops.verdict_of({**loops.others(4), 1: odd})
    assert (verdict.cause, blamed(verdict)) == ("dtype_mismatch", [1])


def metrics(rounds: int, second: str = "Long") -> list[Step]:
    """Three metrics of one line, of different types; before the first report one step less than before the others."""
    line = Call(WORLD, "all_reduce", 2, "metrics.py:26")
    report = [line._replace(dtype="Long"), line._replace(dtype=second), line]
    return [*loop([loops.BACKWARD], 3), *report, *loop([*loop([loops.BACKWARD], 4), *report], rounds)]


def test_the_one_of_two_that_had_another_type_there_before() -> None:
    gives_half = [*metrics(1), *loop([loops.BACKWARD], 4), Call(WORLD, "all_reduce", 2, "metrics.py:26")]
    for odd in (0, 1):
        verdict = loops.verdict_of({odd: gives_half, 1 - odd: metrics(3)}, "gloo")
        assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("dtype_mismatch", "supported", [odd])
        assert f"In the round before, all asked there for what rank {1 - odd} asks for" in verdict.sentence
