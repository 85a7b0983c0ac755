"""All are in a call of one number, and one whose dump is lost came there by another way: it is in another call."""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace
from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import C10D, Witnesses, best, blamed

REDUCE = 214
MEAN, STOP = (Call(WORLD, "all_reduce", 64, f"train.py:{line}") for line in (10, 20))


def lost_in(last: int, of_others: list[Step], ranks: int = 4) -> Witnesses:
    """A framework makes all calls from one line, on its way from line 10 or 20; the others end in the first of these,
    and the last rank, whose dump is lost, says that it waits in a call of that number."""
    programs: dict[int, list[Step]] = {r: [*loop([MEAN, STOP], 4), *of_others] for r in range(ranks)}
    job = Job({WORLD: [*range(ranks)]}, programs, backend="gloo", stalled=frozenset({(WORLD, 9)}))
    case = case_of(job, lost=[ranks - 1])
    inner = {
        "frame": 99,
        "function": "reduce",
        "file": "/workspace/comm.py",
        "line": REDUCE,
        "is_torch": False,
    }
    frames = pl.concat([case.frames, pl.DataFrame([inner], schema=case.frames.schema)])
    stacks = case.stacks.with_columns(
        pl.concat_list(pl.lit(99, dtype=case.stacks.schema["site"]), "frames").alias("frames"),
        pl.lit(99, dtype=case.stacks.schema["site"]).alias("site"),
    )
    calls = case.calls.with_columns(pl.lit(99, dtype=case.calls.schema["site"]).alias("site"))
    told = Witnesses(replace(case, frames=frames, stacks=stacks, calls=calls)).gave_up(ranks - 1, 9)
    way = [("all_reduce", C10D, 3252), ("reduce", "/workspace/comm.py", REDUCE)]
    for rank in range(ranks):
        told.stack(rank, [*way, ("step", "/workspace/train.py", last if rank == ranks - 1 else 10)])
    return told


def test_who_came_to_it_by_the_way_of_the_next_call_has_left_one_out() -> None:
    verdict = best(lost_in(20, [MEAN]))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [3])
    assert "by its stack, rank 3 comes by step, train.py:20: that is another call" in verdict.sentence


def test_who_came_to_it_by_the_same_way_is_in_it() -> None:
    assert blamed(best(lost_in(10, [MEAN]))) == []


def test_of_two_either_may_be_in_the_wrong_one() -> None:
    assert blamed(best(lost_in(20, [MEAN], ranks=2))) == []
