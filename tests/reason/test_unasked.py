"""A call that only looks open: whoever holds Python's lock keeps the recorder from asking whether it is complete."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from support.reason.building import Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import IN_ALL_REDUCE, Witnesses, at, best, blamed

WORLD = "0"
BODY: list[Step] = [
    Call(WORLD, "broadcast", 8, "trainer.py:61"),
    Call(WORLD, "all_reduce", 64, "trainer.py:63"),
]


def holds_the_lock(asked: bool = False, format: str = "ring", last: int = 8) -> Witnesses:
    """Rank 2 computes after its 8th call; nobody asked for the end of that one. The others are in the 9th."""
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[2] = [*loop(BODY, 6)[:last], Stop()]
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))
    open_one = (pl.col("rank") == 2) & (pl.col("seq") == last) & (not asked)
    calls = case.calls.with_columns(
        pl.when(open_one).then(pl.lit("issued")).otherwise(
            pl.when(pl.col("state") == "ended").then(pl.lit("completed")).otherwise(pl.col("state"))
        ).cast(case.calls.schema["state"]).alias("state"),
        pl.when(open_one).then(False).otherwise("retired").alias("retired"),
    )  # fmt: skip
    dumps = case.dumps.with_columns(pl.lit(format).alias("format"), pl.lit("gloo").alias("backend"))
    return Witnesses(replace(case, calls=calls, dumps=dumps))


@pytest.mark.parametrize("asked", [True, False])
def test_who_holds_the_lock_is_named_whether_or_not_somebody_asked(asked: bool) -> None:
    verdict = best(holds_the_lock(asked).stack(2, at(10), at(10), running=True))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2]), verdict.sentence


def test_who_stands_in_the_call_waits_in_it() -> None:
    assert blamed(best(holds_the_lock().stack(2, IN_ALL_REDUCE, IN_ALL_REDUCE))) == []


def test_torchs_own_recorder_does_not_depend_on_the_lock() -> None:
    assert blamed(best(holds_the_lock(format="pickle").stack(2, at(10), at(10), running=True))) == []
