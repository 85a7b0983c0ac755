"""Members that asked for different things, and did not hang: told of beside the verdict, which stays no hang."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.building import Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import blamed

from rankandfile.model.case import Case
from rankandfile.model.claims import Differs
from rankandfile.reason import diagnose


def ended(odd: Call) -> Case:
    """Rank 1 makes the second of three calls its own way, and all of them end."""
    usual = Call("0", "all_reduce", 64, "train.py:9")
    programs: dict[int, list[Step]] = {rank: [usual] * 3 for rank in range(4)}
    programs[1] = [usual, odd, usual]
    whole = case_of(Job({"0": [0, 1, 2, 3]}, dict.fromkeys(range(4), [usual] * 3), backend="gloo"))
    case = case_of(Job({"0": [0, 1, 2, 3]}, programs, backend="gloo"))
    second = case.calls.filter((pl.col("rank") == 1) & (pl.col("seq") == 2))
    mine = (pl.col("rank") == 1) & (pl.col("seq") == 2)
    calls = whole.calls.with_columns(
        shape=pl.when(mine).then(pl.lit(second["shape"][0])).otherwise("shape").cast(pl.UInt32)
    )
    return replace(whole, calls=calls, shapes=case.shapes)


@pytest.mark.parametrize(
    ("odd", "cause", "told"),
    [
        (Call("0", "all_reduce", 64, "train.py:9", "Half"), "dtype_mismatch", "rank 1: [64] Half"),
        (Call("0", "all_reduce", 32, "train.py:9"), "size_mismatch", "rank 1: [32] Float"),
    ],
)
def test_numbers_that_cannot_be_right_are_told_of(odd: Call, cause: str, told: str) -> None:
    first, second = diagnose(ended(odd)).verdicts
    assert (first.cause, first.hang) == ("no_hang", False)
    assert (second.cause, second.hang, second.culprits) == (cause, False, [])
    assert told in second.sentence and "did not hang" in second.sentence
    assert any(isinstance(claim, Differs) for claim in second.claims)


@pytest.mark.parametrize(("of_one", "told"), [(2, "ranks 0, 2 and 3: root 0; rank 1: root 2"), (0, None)])
def test_another_root_of_a_call_that_ended_is_told_of(of_one: int, told: str | None) -> None:
    case = case_of(
        Job({"0": [0, 1, 2, 3]}, dict.fromkeys(range(4), [Call("0", "broadcast", 64, "train.py:9")] * 3))
    )
    odd = (pl.col("rank") == 1) & (pl.col("seq") == 2)
    calls = case.calls.with_columns(
        root=pl.when(odd).then(pl.lit(of_one)).otherwise(0).cast(pl.Int32),
        state=pl.lit("completed").cast(case.calls.schema["state"]),
    )
    first, *more = diagnose(replace(case, calls=calls)).verdicts
    assert first.hang is False
    assert [told in one.sentence for one in more if told] == ([True] if told else [])
    assert [(one.cause, one.hang, one.culprits) for one in more] == (
        [("root_mismatch", False, [])] if told else []
    )


def test_a_job_that_agrees_has_no_more_to_tell() -> None:
    (verdict,) = diagnose(ended(Call("0", "all_reduce", 64, "train.py:9"))).verdicts
    assert verdict.cause == "no_hang"


def reduced(ways: dict[int, str], hangs: bool, lines: dict[int, int] | None = None) -> Case:
    """A ring's job: each rank reduces the first call in its own way; rank 1 may not come to the third."""
    programs: dict[int, list[Step]] = {
        rank: [Call("0", "all_reduce", 64, f"train.py:{(lines or {}).get(rank, 9)}")]
        * (2 if hangs and rank == 1 else 3)
        for rank in ways
    }
    case = case_of(Job({"0": sorted(ways)}, programs, backend="gloo"), waited_s=600)
    name = pl.col("name").cast(pl.String)
    first = pl.col("seq") == 1
    of_rank = pl.col("rank").replace_strict(ways, return_dtype=pl.String)
    told = name + " " + pl.when(first).then(of_rank).otherwise(pl.lit("SUM"))
    return replace(case, calls=case.calls.with_columns(name=told.cast(pl.Categorical)))


@pytest.mark.parametrize("hangs", [True, False])
def test_a_sum_against_a_maximum_is_told_beside_the_hang(hangs: bool) -> None:
    first, second = diagnose(reduced({0: "SUM", 1: "MAX", 2: "SUM"}, hangs)).verdicts
    assert first.hang is hangs
    assert (second.cause, second.hang, second.culprits, second.suspects) == (
        "different_collective",
        False,
        [],
        [],
    )
    assert "ranks 0 and 2: SUM; rank 1: MAX" in second.sentence


@pytest.mark.parametrize("hangs", [True, False])
def test_who_reduces_alike_or_elsewhere_is_not_told_of(hangs: bool) -> None:
    assert len(diagnose(reduced({0: "AVG", 1: "AVG", 2: "AVG"}, hangs)).verdicts) == 1
    elsewhere = reduced({0: "SUM", 1: "MAX", 2: "SUM"}, hangs, {1: 12})
    assert not any("reduce in the same way" in one.sentence for one in diagnose(elsewhere).verdicts)


MEAN = Call("0", "all_reduce", 64, "train.py:9")
NORM = Call("0", "all_gather", 8, "train.py:12")
SAVE = Call("0", "barrier", 1, "train.py:20")


def rounds(odd: Call, at: list[int], unfinished: bool) -> Case:
    """Four rounds of two calls, and rank 1 makes these in its own way. Then rank 3 does not come to the save; or
    `unfinished`: all are in one call more, as in each round."""
    programs: dict[int, list[Step]] = {rank: [*loop([MEAN, NORM], 4), SAVE] for rank in range(4)}
    programs[3] = [*programs[3][:-1], Stop()]
    if unfinished:
        programs = {rank: [*loop([MEAN, NORM], 4), MEAN] for rank in range(4)}
    stalled = frozenset({("0", 9)}) if unfinished else frozenset[tuple[str, int]]()
    case = case_of(Job({"0": [0, 1, 2, 3]}, programs, backend="gloo", stalled=stalled))
    shapes = case_of(Job({"0": [0]}, {0: [MEAN, NORM, SAVE, odd]}, backend="gloo")).shapes
    mine = (pl.col("rank") == 1) & pl.col("seq").is_in(at)
    shape = pl.when(mine).then(pl.lit(shapes.height - 1)).otherwise("shape").cast(pl.UInt32)
    return replace(case, calls=case.calls.with_columns(shape=shape), shapes=shapes)


OTHERS = [(MEAN._replace(dtype="Half"), "dtype_mismatch"), (MEAN._replace(size=32), "size_mismatch")]


@pytest.mark.parametrize(("odd", "cause"), OTHERS)
def test_what_all_got_past_in_each_round_is_told_beside_the_wait_and_is_no_reason_of_it(
    odd: Call, cause: str
) -> None:
    first, second = diagnose(rounds(odd, [1, 3, 5, 7], unfinished=False)).verdicts
    assert (first.hang, first.cause, blamed(first)) == (True, "undetermined", [3])
    assert "Rank 3 never issued the barrier at train.py:20" in first.sentence
    assert (second.hang, second.cause, second.culprits, second.suspects) == (False, cause, [], [])
    assert "all_reduce at train.py:9" in second.sentence and "3 later collectives" in second.sentence


@pytest.mark.parametrize(
    ("at", "unfinished"),
    [([3], False), ([3, 5, 7], False), ([9], True), ([1, 3, 5, 7, 9], True)],
    ids=[
        "once",
        "since a round in which all agreed",
        "once, and unfinished",
        "in each round, and unfinished",
    ],
)
@pytest.mark.parametrize(("odd", "cause"), OTHERS)
def test_what_was_asked_otherwise_once_or_is_unfinished_is_the_reason(
    odd: Call, cause: str, at: list[int], unfinished: bool
) -> None:
    (verdict,) = diagnose(rounds(odd, at, unfinished)).verdicts
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (True, cause, [1])
