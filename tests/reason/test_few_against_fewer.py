"""Small jobs: what strikes one rank seldom strikes two alike, and what no recorder keeps can still be counted."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason import no_dumps
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, hidden, loop
from support.reason.witnesses import Frame, Witnesses, best, blamed, suspected

from rankandfile.model.code_read import CodeRead
from rankandfile.reason import gather
from rankandfile.reason.conclusion import conclude

C10D = "/venv/torch/distributed/distributed_c10d.py"
SUM = Call(WORLD, "all_reduce", 64, "trainer.py:63")
LOSS = Call(WORLD, "all_reduce", 1, "trainer.py:70")
SCORE = Call(WORLD, "all_reduce", 3, "evaluate.py:9")
BUCKETS = Call(WORLD, "broadcast", 7, "trainer.py:62")


def said(witnesses: Witnesses, rank: int, seq: int, call: Call, group: str = WORLD) -> Witnesses:
    """The watchdog of the rank gave up on this call, at this line."""
    file, _, line = call.site.partition(":")
    way = [[call.op, C10D, 3252], ["step", f"/workspace/{file}", int(line)]]
    witnesses.gave_up(rank, seq, call.op.replace("_", "").upper(), call.size, group=group)
    return witnesses.event(
        "failed_stack", "messenger", rank, group_name=group, group_desc=group, seq=seq, frames=way
    )


def three_say(seq: int, *calls: Call) -> Witnesses:
    told = no_dumps.nothing(len(calls))
    for rank, call in enumerate(calls):
        told = said(told, rank, seq, call, "default_pg")
    return told


def test_of_three_in_one_call_the_one_at_another_line_is_out_of_line() -> None:
    verdict = best(three_say(9, SUM, LOSS, SUM))
    assert (blamed(verdict), verdict.confidence) == ([1], "supported")
    assert verdict.cause == "different_collective", (
        "at another line it is another call, and not one of another size"
    )


def test_of_two_neither_is_and_of_an_exchange_pairs_may_have_ended() -> None:
    assert blamed(best(three_say(9, SUM, LOSS))) == []
    one, other = (call._replace(op="all_to_all") for call in (SUM, LOSS))
    assert blamed(best(three_say(9, one, other, one))) == []


def lost(past: list[Step], here: Step, there: Step) -> Witnesses:
    """Two ranks with one past; rank 1 makes another call than rank 0 then, and its dump is lost."""
    programs: dict[int, list[Step]] = {0: [*past, here, SUM], 1: [*past, there, SUM]}
    told = Witnesses(case_of(Job({WORLD: [0, 1]}, programs), lost=[1]))
    seq = len(past) + 1
    return said(said(told, 0, seq, here), 1, seq, there)  # type: ignore[arg-type]


def test_calls_that_were_made_once_do_not_hide_the_round() -> None:
    """DDP lays its buckets anew in the second step: that is no part of the round."""
    past: list[Step] = [LOSS, LOSS, LOSS, SUM, LOSS, BUCKETS, LOSS, LOSS, LOSS, SUM, LOSS, LOSS, LOSS, LOSS]
    verdict = best(lost(past, SUM, LOSS))
    assert (blamed(verdict), verdict.confidence) == ([1], "supported")


def test_where_rounds_differ_in_length_what_follows_a_call_still_does() -> None:
    rounds = [[SUM] * 3, [SUM] * 2, [SUM] * 5, [SUM] * 4]
    past: list[Step] = [step for sums in rounds for step in (*sums, LOSS, SCORE)][:-1]
    verdict = best(lost(past, SCORE, SUM))
    assert (blamed(verdict), verdict.confidence) == ([1], "supported")


def test_what_followed_a_call_once_is_no_rule() -> None:
    past: list[Step] = [SUM, SUM, LOSS, SCORE, SUM, SUM, SUM, LOSS]
    assert blamed(best(lost(past, SCORE, SUM))) == []


def unrecorded(short: bool) -> Witnesses:
    """Rank 2 does not come to the fifth sum, before which rank 1 has made as many transfers as always, or fewer."""
    programs: dict[int, list[Step]] = {rank: loop([SUM], 5) for rank in (0, 1)}
    programs[2] = [*loop([SUM], 4), Stop()]
    case = hidden(case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo")))
    last = (pl.col("rank") == 1) & (pl.col("seq") == 5)
    fewer = pl.when(last & short).then(pl.col("op_id") - 1).otherwise(pl.col("op_id")).alias("op_id")
    return Witnesses(replace(case, calls=case.calls.with_columns(fewer)))


def test_who_waits_for_nobody_elses_transfer_has_not_come_by_itself() -> None:
    verdict = best(unrecorded(short=False))
    assert (blamed(verdict), verdict.confidence) == ([2], "supported")


def test_a_transfer_that_was_not_made_may_be_what_it_waits_for() -> None:
    verdict = best(unrecorded(short=True))
    assert (blamed(verdict), suspected(verdict)) == ([], [1])


def test_who_made_fewer_transfers_than_ever_owes_the_one_that_is_seen_to_wait_for_one() -> None:
    receive: list[Frame] = [("recv", C10D, 2799), ("fill", "/workspace/link.py", 15)]
    verdict = best(unrecorded(short=True).stack(2, receive))
    assert (blamed(verdict), verdict.cause, verdict.confidence) == ([1], "skipped_collective", "supported")
    assert "1 transfer since" in verdict.sentence and "2 each time before" in verdict.sentence
    at_work: list[Frame] = [("sleep", "/workspace/link.py", 15)]
    assert blamed(best(unrecorded(short=True).stack(2, at_work, running=True))) != [1]


@pytest.mark.parametrize(
    ("made", "receive", "named"),
    [(0, [1, 2], True), (1, [1, 2], False), (0, [1], False), (0, [], False)],
    ids=["none", "one less", "none, against one alone", "none, and where the others stand is not known"],
)
def test_who_made_no_transfer_at_all_owes_those_that_stand_in_one(
    made: int, receive: list[int], named: bool
) -> None:
    """No other one's numbers tell that a round has as many as ever: it may have had fewer to send, but that it had none
    to send, where several others wait in one, is no chance. One may wait for a message too many."""
    late = receive or [1, 2]
    programs: dict[int, list[Step]] = {0: loop([SUM], 5)}
    programs |= {rank: [*loop([SUM], 4), Stop()] for rank in late}
    case = hidden(case_of(Job({WORLD: [0, *late]}, programs, backend="gloo")))
    last = (pl.col("rank") == 0) & (pl.col("seq") == 5)
    calls = case.calls.with_columns(op_id=pl.col("op_id") - pl.when(last).then(2 - made).otherwise(0))
    told = Witnesses(replace(case, calls=calls))
    for rank in receive:
        told.stack(rank, [("recv", C10D, 2799), ("fill", "/workspace/link.py", 15)])
    verdict = best(told)
    assert (blamed(verdict), suspected(verdict)) == (([0], []) if named else ([], [0]))
    found = ("skipped_collective", "supported") if named else ("undetermined", "hypothesis")
    assert (verdict.cause, verdict.confidence) == found


#: What was begun before, and is waited for without a frame of torch's.
WAITS: list[Frame] = [("rotate", "/workspace/ring.py", 20)]
PART = {"a": [0, 1, 2], "b": [3, 4, 5]}


def two_rings(fewer: tuple[int, ...]) -> Witnesses:
    """In a group of each ring ranks sum up; ranks 4 and 5 do not come to the fifth sum, and 3 waits for them there."""
    of = {rank: Call("a" if rank < 3 else "b", "all_reduce", 64, "main.py:23") for rank in range(6)}
    programs: dict[int, list[Step]] = {rank: loop([of[rank]], 5) for rank in range(4)}
    programs |= {rank: [*loop([of[rank]], 4), Stop()] for rank in (4, 5)}
    descs = {"a": "mesh_cp", "b": "mesh_cp"}
    case = hidden(case_of(Job(PART, programs, backend="gloo", descs=descs)))
    last = pl.col("rank").is_in(fewer) & (pl.col("seq") == 5)
    calls = case.calls.with_columns(pl.col("op_id") - last.cast(pl.Int64))
    told = Witnesses(replace(case, calls=calls))
    for rank in range(6):
        receive: list[Frame] = [("recv", C10D, 2799), ("rotate", "/workspace/ring.py", 19)]
        told.stack(
            rank, receive if rank == 4 else WAITS if rank == 5 else [("average", "/workspace/main.py", 23)]
        )
    return told


@pytest.mark.parametrize(("fewer", "named"), [((3,), [3]), ((0, 3), []), ((), [])])
def test_of_another_ring_the_numbers_tell_that_the_round_has_as_many_messages_as_ever(
    fewer: tuple[int, ...], named: list[int]
) -> None:
    """Alone in its call, rank 3 may have had fewer to send; not where the other ring's ranks had as many as ever."""
    code = CodeRead(lines={("/workspace/ring.py", 20): "taken.wait()"})
    verdict = conclude(gather(two_rings(fewer).case, code=code)).verdicts[0]
    assert blamed(verdict) == named, verdict.sentence
    if named:
        assert "wait in recv ← rotate, ring.py:19 or for a call to complete in ring.py:20" in verdict.sentence


def stages(receives_at: int) -> Witnesses:
    """Of three stages on two ranks each, the last one receives, and the others sum over the stages in line 64."""
    told = no_dumps.nothing(6)
    for rank in range(4):
        way: list[Frame] = [("all_reduce", C10D, 3252), ("averaged", "/workspace/tracker.py", 25)]
        told.stack(rank, [*way, ("main", "/workspace/pipe.py", 64)]).gave_up(
            rank, 5, group=f"stages_{rank % 2}"
        )
    for rank in (4, 5):
        way = [("recv", C10D, 2799), ("run", "/workspace/schedule.py", 16)]
        told.stack(rank, [*way, ("main", "/workspace/pipe.py", receives_at)], asked=f"recv: src={rank - 2}")
    return told


@pytest.mark.parametrize("line", [60, 66])
def test_a_message_of_this_round_may_have_been_left_out_by_whoever_is_further_on(line: int) -> None:
    """The receivers are suspected, and no more: as well a sender may have gone on without its send."""
    verdict = best(stages(line))
    assert (blamed(verdict), suspected(verdict)) == ([], [4, 5])
