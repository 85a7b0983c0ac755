"""Who waits in a send or a receive that nobody is left to answer: all others have made theirs, and wait in a call."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import C10D, Frame, Witnesses, best, blamed

from rankandfile.model.code_read import CodeRead
from rankandfile.reason import gather
from rankandfile.reason.conclusion import conclude

SUM = Call(WORLD, "all_reduce", 8, "model.py:38")
RECEIVES: list[Frame] = [("recv", C10D, 2799), ("turn", "/workspace/ring.py", 43)]
#: Sends and receives before each call: as many turns of the ring as the step asks for.
TURNS = (2, 2, 4, 4, 2)


def ring(of_rank: dict[int, tuple[int, ...]], stack: list[Frame] = RECEIVES) -> Witnesses:
    """Three ranks; 0 and 1 wait in the fifth call, and rank 2 is not there."""
    programs: dict[int, list[Step]] = {rank: loop([SUM], 5) for rank in (0, 1)}
    programs[2] = [*loop([SUM], 4), Stop()]
    case = case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo"))
    numbers = [
        (rank, seq + 1, seq + 1 + sum(of_rank.get(rank, TURNS)[: seq + 1]))
        for rank in range(3)
        for seq in range(len(TURNS))
    ]
    schema = {"rank": case.calls.schema["rank"], "seq": case.calls.schema["seq"], "made": pl.Int64}
    made = pl.DataFrame(numbers, schema=schema, orient="row")
    calls = case.calls.join(made, on=["rank", "seq"], how="left", maintain_order="left")
    calls = calls.with_columns(pl.col("made").cast(case.calls.schema["op_id"]).alias("op_id")).drop("made")
    return Witnesses(replace(case, calls=calls)).stack(2, stack)


def test_who_asks_for_one_more_than_all_others_made_is_named() -> None:
    verdict = best(ring({}))
    found = (verdict.cause, verdict.confidence, blamed(verdict))
    assert found == ("extra_collective", "supported", [2]), verdict.sentence
    assert "nobody is left to be on the other side of one more in that group" in verdict.sentence
    assert [(one.cause, one.culprits) for one in verdict.alternatives] == [("skipped_collective", "0,1")]
    read = conclude(gather(ring({}).case, code=CodeRead(makes_groups=False))).verdicts[0]
    assert "on the other side of one more." in read.sentence


@pytest.mark.parametrize(
    "of_rank",
    [
        {1: (2, 2, 4, 4, 0)},  # rank 1 may have left one out
        {0: (2, 2, 4, 4, 1)},
        {1: (1, 1, 2, 2, 1)},  # the ranks have parts of their own: nothing tells what each owes
        {2: (2, 2, 4, 2)},
    ],
)
def test_nothing_is_told_where_ranks_made_unlike_numbers_of_them(of_rank: dict[int, tuple[int, ...]]) -> None:
    verdict = best(ring(of_rank))
    assert verdict.cause != "extra_collective"
    assert 2 not in blamed(verdict), verdict.sentence


def test_who_is_in_no_transfer_makes_none_more() -> None:
    verdict = best(ring({}, [("read", "/workspace/data.py", 12)]))
    assert verdict.cause != "extra_collective"


def test_of_a_message_that_another_group_carries_or_that_was_let_go_of_the_numbers_tell_nothing() -> None:
    """Rank 1 may have left out the message of a ring that is a group of its own, or have dropped its send."""
    verdict = conclude(gather(ring({}).case, code=CodeRead(untold_transfers=True))).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("undetermined", []), verdict.sentence


@pytest.mark.parametrize("transfers", [0, 1])
def test_a_message_may_be_owed_in_a_group_of_some(transfers: int) -> None:
    """Ranks 1 and 2 have a group of their own, in which they sum up, and may send and receive."""
    own = Call("1", "all_reduce", 8, "model.py:50")
    programs: dict[int, list[Step]] = {
        0: loop([SUM], 5),
        1: loop([own, SUM], 5),
        2: [*loop([own, SUM], 4), own],
    }
    programs[2].append(Stop())
    case = case_of(Job({WORLD: [0, 1, 2], "1": [1, 2]}, programs, backend="gloo"))
    per_call = pl.when(pl.col("group") == 0).then(3).otherwise(1 + transfers)
    calls = case.calls.with_columns(
        (pl.col("seq") * per_call).cast(case.calls.schema["op_id"]).alias("op_id")
    )
    verdict = best(Witnesses(replace(case, calls=calls)).stack(2, RECEIVES))
    assert blamed(verdict) == ([] if transfers else [2]), verdict.sentence
