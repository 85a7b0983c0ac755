"""Where a rank made the call that its watchdog gave up on is where it stands, if nobody looked at it."""

# ruff: noqa: E501, W291 - log lines are as they are

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict

EXAMPLE = Path(__file__).parents[2] / "examples" / "early-stop"
TORCH = "/opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py"
#: How a rank's watchdog gives up: the call's number, what it was, and the lines from which it was made.
GAVE_UP = """\
[rank{rank}]:[E511 17:02:13.640171617 ProcessGroupNCCL.cpp:670] [Rank {rank}] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600077 milliseconds before timing out.
[rank{rank}]:[E511 17:02:13.640180000 ProcessGroupNCCL.cpp:2271] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]  failure \
detected by watchdog at work sequence id: {seq} PG status: last enqueued work: {seq}, last completed work: {before}
[rank{rank}]:[E511 17:02:13.640190000 ProcessGroupNCCL.cpp:733] Stack trace of the failed collective: 
#0 {function} from {torch}:3145
#1 {place[0]} from /job/{place[1]}:{place[2]}
#2 main from /job/train.py:{way}
#3 <module> from /job/train.py:40

"""
Call = tuple[int, str, str, tuple[str, str, int], int]


def told(folder: Path, calls: Mapping[int, Call]) -> Verdict:
    for rank, (seq, op, function, place, way) in calls.items():
        text = GAVE_UP.format(
            rank=rank, seq=seq, before=seq - 1, op=op, function=function, place=place, way=way, torch=TORCH
        )
        (folder / f"rank_{rank}.log").write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def test_logs_alone_show_who_left_the_loop_and_by_which_line(tmp_path: Path) -> None:
    found = rankandfile.diagnose([EXAMPLE / "evidence" / "logs"], src=[EXAMPLE / "src"]).verdicts[0]
    assert [culprit.rank for culprit in found.culprits] == [2]
    assert found.cause == "early_exit" and found.confidence == "supported"
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("trainer.py", 40)
    assert found.divergence is not None
    told = {c.ranks: c.call.seq for c in found.divergence.cohorts if c.call is not None}
    assert told == {"2": 85, "0": 85, "1,3": 86}


ALL_REDUCE: Call = (52, "ALLREDUCE", "all_reduce", ("step", "loop.py", 30), 21)
BARRIER: Call = (52, "BARRIER", "barrier", ("save", "save.py", 12), 24)


@pytest.mark.parametrize("odd", [0, 2])
def test_the_one_that_came_by_another_way_is_suspected_where_all_are_at_one_number(
    tmp_path: Path, odd: int
) -> None:
    found = told(tmp_path, {rank: BARRIER if rank == odd else ALL_REDUCE for rank in range(4)})
    assert [culprit.rank for culprit in found.culprits] == [odd]
    assert found.divergence is not None
    assert {c.call.seq for c in found.divergence.cohorts if c.call is not None} == {52}


def test_who_is_past_the_call_in_which_the_others_wait_is_not_out_of_line(tmp_path: Path) -> None:
    """A broadcast's root gives what it has, and goes on."""
    waits: Call = (51, "BROADCAST", "broadcast", ("share", "best.py", 48), 20)
    found = told(tmp_path, {rank: BARRIER if rank == 0 else waits for rank in range(4)})
    assert not found.culprits and found.cause == "undetermined"
    assert found.hang


def test_where_somebody_looked_the_others_do_not_stand_where_their_calls_were_made(tmp_path: Path) -> None:
    """All gave up on one call of one line, after which the host went on: the one that was looked at is no odd one."""
    (tmp_path / "pyspy_rank_1.txt").write_text(
        "Process 41: python train.py\nPython v3.12.1 (/usr/bin/python3.12)\n\n"
        'Thread 41 (idle): "MainThread"\n    get (queue.py:171)\n    save (/job/save.py:30)\n'
        "    main (/job/train.py:26)\n    <module> (/job/train.py:40)\n"
    )
    found = told(tmp_path, dict.fromkeys(range(4), ALL_REDUCE))
    assert not found.culprits and not found.suspects, found.sentence
    case = rankandfile.load([tmp_path])
    assert case.looks.equals(case.snapshots)
