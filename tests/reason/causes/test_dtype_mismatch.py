"""`dtype_mismatch`: ranks asked for different types in one call."""

from __future__ import annotations

from support.reason import loops
from support.reason.building import Step, loop
from support.reason.witnesses import blamed


def test_dtype() -> None:
    odd: list[Step] = [*loop(loops.BODY, 5), loops.BACKWARD, loops.NORM._replace(dtype="Double"), loops.LOSS]
    verdict = loops.verdict_of({**loops.others(4), 1: odd})
    assert (verdict.cause, blamed(verdict)) == ("dtype_mismatch", [1])
