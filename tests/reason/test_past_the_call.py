"""Whom others wait for in a call, and that waits in a transfer beyond it, which no recorder keeps."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, hidden, loop
from support.reason.witnesses import Witnesses, best, blamed, suspected

from rankandfile.model.case import Case
from rankandfile.model.code_read import CodeRead
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import gather
from rankandfile.reason.conclusion import conclude

C10D = "/venv/torch/distributed/distributed_c10d.py"
#: The loop: sends and receives, the mean of the gradients, then the report.
FORWARD, UPDATE, REPORT = 59, 60, 61
MEAN = Call(WORLD, "all_reduce", 192, "train.py:52")
LOSS = Call(WORLD, "all_reduce", 1, "telemetry.py:16")
GAUGE = Call(WORLD, "all_reduce", 2, "telemetry.py:20")
LINE_OF = {"train.py": UPDATE, "telemetry.py": REPORT}


def in_the_loop(case: Case) -> Case:
    """Each call with the line of the loop that leads to it."""
    outer = [
        {
            "frame": 100 + line,
            "function": "run",
            "file": "/workspace/train.py",
            "line": line,
            "is_torch": False,
        }
        for line in LINE_OF.values()
    ]
    frames = pl.concat([case.frames, pl.DataFrame(outer, schema=case.frames.schema)])
    line_of = {
        row["frame"]: LINE_OF[row["file"].rpartition("/")[2]] for row in case.frames.iter_rows(named=True)
    }
    stacks = [
        {"stack": row["stack"], "frames": [row["site"], 100 + line_of[row["site"]]], "site": row["site"]}
        for row in case.stacks.iter_rows(named=True)
    ]
    return replace(case, frames=frames, stacks=pl.DataFrame(stacks, schema=case.stacks.schema))


def sends_and_receives(case: Case) -> Case:
    """As gloo leaves it: transfers show in the numbers alone, and none lies between the loss and the gauge."""
    case = hidden(case)
    gauge = case.frames.filter(pl.col("file").str.ends_with("telemetry.py") & (pl.col("line") == 20))["frame"]
    right_behind = pl.col("site").is_in(gauge.implode())
    numbers = pl.when(right_behind).then(pl.col("op_id") - 2).otherwise(pl.col("op_id"))
    return replace(case, calls=case.calls.with_columns(numbers.alias("op_id")))


def job(step: list[Step], of_three: list[Step], rounds: int = 4, waited_s: float | None = None) -> Witnesses:
    """Three ranks end in the last call of the step; rank 3 stands in a receive at the beginning of the loop."""
    programs = {rank: loop([MEAN, LOSS], rounds) + step for rank in range(3)}
    programs[3] = [*loop([MEAN, LOSS], rounds), *of_three, Stop()]
    waited = {} if waited_s is None else {"waited_s": waited_s}
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"), **waited)
    told = Witnesses(in_the_loop(sends_and_receives(case)))
    frames = [("recv", C10D, 2400), ("forward_backward", "/workspace/train.py", 32)]
    return told.stack(3, [*frames, ("run", "/workspace/train.py", FORWARD)])


def test_who_has_left_the_statement_from_which_the_others_made_the_next_call_has_left_it_out() -> None:
    verdict = best(job([MEAN, LOSS, GAUGE], [MEAN, LOSS]))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [3])
    assert "was made from train.py:61 in run, as by the others" in verdict.sentence
    assert "rank 3 is past it, in recv ← forward_backward, train.py:32" in verdict.sentence


@pytest.mark.parametrize(("waited_s", "named"), [(4.8, [3]), (1.0, [])])
def test_of_a_job_with_few_calls_a_pause_need_not_be_as_long(waited_s: float, named: list[int]) -> None:
    """That it is past the call says more than the pause does; but there is to be one."""
    verdict = best(job([MEAN, LOSS, GAUGE], [MEAN, LOSS], rounds=1, waited_s=waited_s))
    assert blamed(verdict) == named, verdict.sentence


def test_the_transfer_may_be_waited_for_by_a_call_into_c_that_leaves_no_frame() -> None:
    told = job([MEAN, LOSS, GAUGE], [MEAN, LOSS])
    looks = told.case.snapshots.clear()
    told.case = replace(told.case, snapshots=looks)
    told.stack(3, [("forward_backward", "/workspace/train.py", 32), ("run", "/workspace/train.py", FORWARD)])
    assert conclude(gather(told.case)).verdicts[0].cause == "undetermined"
    code = CodeRead(lines={("/workspace/train.py", 32): "request.wait()"})
    verdict = conclude(gather(told.case, code=code)).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [3])


def test_who_is_before_the_call_is_not_past_it() -> None:
    """All made the update; the others are at the report, and rank 3 waits in a message of that very step."""
    assert best(job([MEAN, LOSS], [MEAN])).cause != "skipped_collective"


def test_a_call_of_each_turn_may_be_that_of_the_next_turn() -> None:
    """One call a turn, and nothing between: rank 3 is in a message of the next turn, before its call."""
    programs = {rank: loop([LOSS], 6) for rank in range(3)}
    programs[3] = [*loop([LOSS], 5), Stop()]
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))
    told = Witnesses(in_the_loop(sends_and_receives(case)))
    frames = [("recv", C10D, 2400), ("forward_backward", "/workspace/train.py", 32)]
    told.stack(3, [*frames, ("run", "/workspace/train.py", FORWARD)])
    assert best(told).cause != "skipped_collective"


def test_one_against_one_is_a_suspect() -> None:
    """As well the other one may have made a call that nobody was to make."""
    programs: dict[int, list[Step]] = {
        0: [*loop([MEAN, LOSS], 5), GAUGE],
        1: [*loop([MEAN, LOSS], 5), Stop()],
    }
    case = case_of(Job({WORLD: [0, 1]}, programs, backend="gloo"))
    told = Witnesses(in_the_loop(sends_and_receives(case)))
    frames = [("recv", C10D, 2400), ("forward_backward", "/workspace/train.py", 32)]
    verdict = best(told.stack(1, [*frames, ("run", "/workspace/train.py", FORWARD)]))
    assert (verdict.cause, blamed(verdict), suspected(verdict)) == ("skipped_collective", [], [1])


def test_a_call_of_the_same_line_may_be_that_of_the_next_turn_where_transfers_are_of_another_group() -> None:
    """The numbers of this group tell of no transfer, and all come to the call once in each turn."""
    programs: dict[int, list[Step]] = {rank: loop([LOSS], 6) for rank in range(3)}
    programs[3] = [*loop([LOSS], 5), Stop()]
    told = Witnesses(in_the_loop(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))))
    frames = [("recv", C10D, 2400), ("forward_backward", "/workspace/train.py", 32)]
    told.stack(3, [*frames, ("run", "/workspace/train.py", FORWARD)])
    assert best(told).cause != "skipped_collective"


def first_sum_over_stages(in_the_loop_too: bool, rounds_of_0: int = 4) -> Verdict:
    """Three stages on two ranks each; the last two sum up over the stages for the first time, and nobody recorded who
    belongs to those groups. The first stage is in a send of the next turn."""
    replicas = {f"d{stage}": [2 * stage, 2 * stage + 1] for stage in range(3)}
    groups = {**replicas, "p0": [0, 2, 4], "p1": [1, 3, 5]}
    programs: dict[int, list[Step]] = {}
    for rank in range(6):
        mean, gauge = MEAN._replace(group=f"d{rank // 2}"), GAUGE._replace(group=f"p{rank % 2}")
        programs[rank] = [*loop([mean], 4), gauge] if rank > 1 else [*loop([mean], rounds_of_0), Stop()]
    told = Witnesses(in_the_loop(case_of(Job(groups, programs, backend="gloo"), members=False)))
    for rank in (0, 1):
        sends = [("send", C10D, 2350), ("forward_backward", "/workspace/train.py", 30)]
        told.stack(rank, [*sends, ("run", "/workspace/train.py", FORWARD)])
    for rank in range(2, 6):
        waits = [("all_reduce", C10D, 3252), ("step", "/workspace/telemetry.py", 20)]
        told.stack(rank, [*waits, ("run", "/workspace/train.py", REPORT)])
    file = "/workspace/train.py"
    loops = {(file, line): 58 for line in (FORWARD, UPDATE, *((REPORT,) if in_the_loop_too else ()))}
    return conclude(gather(told.case, code=CodeRead(loops=loops))).verdicts[0]


def test_a_first_call_lacks_the_stage_that_is_in_no_such_group_and_past_it() -> None:
    verdict = first_sum_over_stages(in_the_loop_too=True)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [0, 1])
    assert "Ranks 0 and 1 made no call there, and are past it" in verdict.sentence


def test_behind_the_loop_those_that_made_the_call_may_be_the_ones_that_left() -> None:
    assert blamed(first_sum_over_stages(in_the_loop_too=False)) == []


def test_who_is_a_turn_behind_is_on_its_way_to_the_call() -> None:
    assert blamed(first_sum_over_stages(in_the_loop_too=True, rounds_of_0=3)) == []


def behind_the_others(numbers: int, apart: bool) -> Verdict:
    """Of every second round is the mean, of every fourth the report, in rounds without a mean: who receives is on its
    way there. `numbers`: how far gloo counts on from call to call; `apart`: the mean and the gauge are of one statement
    and of two rounds, and all transfers but the first few are of another group."""
    first, then = (LOSS, GAUGE) if apart else (MEAN, LOSS)
    programs: dict[int, list[Step]] = {rank: [*loop([first, first, then], 3)] for rank in range(3)}
    programs[3] = [*programs[0][:-1], Stop()]
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))
    made = pl.col("seq") + 3 if apart else pl.col("seq") * numbers
    told = Witnesses(in_the_loop(replace(case, calls=case.calls.with_columns(op_id=made))))
    frames = [("recv", C10D, 2400), ("forward_backward", "/workspace/train.py", 32)]
    told.stack(3, [*frames, ("run", "/workspace/train.py", FORWARD)])
    loops = {("/workspace/train.py", at): 58 for at in (FORWARD, UPDATE, REPORT)}
    return conclude(gather(told.case, code=CodeRead(loops=loops))).verdicts[0]


def test_a_round_may_go_without_the_call_before() -> None:
    assert behind_the_others(3, apart=False).cause != "skipped_collective"
    assert behind_the_others(1, apart=True).cause != "skipped_collective"
