"""All are in a call of one number, and one whose dump is lost came there by another way: it is in another call."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from msgspec.structs import replace
from support.reason.building import WORLD, Call, Job, Step, case_of
from support.reason.witnesses import C10D, Frame, Witnesses, best, blamed

REDUCE = 214
MEAN, STOP, SAVE, TELL = (Call(WORLD, "all_reduce", 64, f"train.py:{line}") for line in (10, 20, 40, 50))
ROUND = (MEAN, STOP, SAVE, TELL)


def lost_in(
    last: int,
    ends: list[Step],
    ranks: int = 4,
    *,
    way: list[Frame] | None = None,
    of_others: int = 10,
    by_two: bool = False,
    backend: str = "gloo",
    number: bool = True,
    before: str = "all_reduce",
    a_round: Sequence[Step] = (),
) -> Witnesses:
    """A framework makes all calls from one line, on its way from line 10 or 20; the others end in the first of these,
    and the last rank, whose dump is lost, says that it waits in a call of that number. `way`: its own frames of that
    way; `of_others`: where the others stand; `by_two`: one of them made the first call on the way of the other;
    `number`: the last rank's log tells of which call it waits for; `before`: what the call before that one was;
    `a_round`: what the eight calls before are made of."""
    rounds = [*(a_round or ROUND)] * (8 // len(a_round or ROUND))
    rounds[-1] = rounds[-1]._replace(op=before)  # type: ignore[union-attr, call-arg]
    programs: dict[int, list[Step]] = {r: [*rounds, *ends] for r in range(ranks)}
    if by_two:
        programs[0][0] = STOP
    job = Job({WORLD: [*range(ranks)]}, programs, backend=backend, stalled=frozenset({(WORLD, 9)}))
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
    told = Witnesses(replace(case, frames=frames, stacks=stacks, calls=calls))
    told = told.gave_up(ranks - 1, 9) if number else told
    inner_most: list[Frame] = [("all_reduce", C10D, 3252), ("reduce", "/workspace/comm.py", REDUCE)]
    for rank in range(ranks - 1):
        told.stack(rank, [*inner_most, ("step", "/workspace/train.py", of_others)])
    return told.stack(ranks - 1, [*inner_most, *(way or [("step", "/workspace/train.py", last)])])


def test_who_came_to_it_by_the_way_of_the_next_call_has_left_one_out() -> None:
    verdict = best(lost_in(20, [MEAN]))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [3])
    assert "by its stack, rank 3 comes by step, train.py:20: that is another call" in verdict.sentence


def test_where_all_came_by_its_way_right_before_it_may_have_gone_there_once_more() -> None:
    verdict = best(lost_in(20, [MEAN], a_round=(MEAN, STOP)))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("different_collective", "supported", [3])
    assert [one.cause for one in verdict.alternatives] == ["extra_collective"]


def test_who_came_to_it_by_the_same_way_is_in_it() -> None:
    assert blamed(best(lost_in(10, [MEAN]))) == []


def test_of_two_either_may_be_in_the_wrong_one() -> None:
    assert blamed(best(lost_in(20, [MEAN], ranks=2))) == []


def test_a_way_that_nobody_else_takes_may_be_what_the_rank_is_there_for() -> None:
    assert blamed(best(lost_in(30, [MEAN]))) == []


def test_a_stack_that_gives_more_of_a_way_or_other_names_shows_no_other_way() -> None:
    for frames in (
        [("Loop.step", "/workspace/train.py", 10)],
        [("step", "/home/else/train.py", 10)],
        [("step", "/workspace/train.py", 10), ("<module>", "/workspace/train.py", 99)],
    ):
        assert blamed(best(lost_in(10, [MEAN], way=frames))) == []


def test_whose_calls_the_device_makes_may_be_far_ahead_of_the_one_that_does_not_end() -> None:
    assert blamed(best(lost_in(20, [MEAN, STOP], backend="nccl"))) == []


def test_who_stands_where_the_others_stand_as_well_is_as_far_as_they() -> None:
    assert blamed(best(lost_in(20, [MEAN], of_others=20))) == []


def test_two_ways_to_one_call_of_a_round_before_are_no_two_calls() -> None:
    assert blamed(best(lost_in(20, [MEAN], by_two=True))) == []


def test_that_it_has_come_to_that_number_the_call_before_tells_which_ended_for_all() -> None:
    verdict = best(lost_in(20, [MEAN], number=False))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [3])
    assert blamed(best(lost_in(10, [MEAN], number=False))) == []


def test_a_call_that_ends_without_it_tells_nothing_of_how_far_it_has_come() -> None:
    assert blamed(best(lost_in(20, [MEAN], number=False, before="broadcast"))) == []
