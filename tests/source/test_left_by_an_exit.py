"""A rank that left early with a code, where no test of a loop let it: the only line that may have ended it so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.source.written_evidence import gave_up, stack

import rankandfile
from rankandfile.model.diagnosis import Verdict

TRAIN = """import signal
import sys
import torch.distributed as dist


def requeue(signum, frame):
    {leaves}


def score(batch):
    dist.reduce(batch, dst=0)


def main(batches):
    {asked}
    for batch in batches:
        score(batch)


main(__import__("job").batches())
"""
ASKED = "signal.signal(signal.SIGTERM, requeue)"


def left_behind(folder: Path, leaves: str, asked: str) -> Verdict:
    frames = ("score (train.py:11)", "main (train.py:17)", "<module> (train.py:20)")
    return left_in(folder, TRAIN.format(leaves=leaves, asked=asked), "reduce", frames)


def left_in(folder: Path, program: str, op: str, frames: tuple[str, ...]) -> Verdict:
    """Rank 1 has left with code 0, the others wait in one call and gave up."""
    (folder / "src").mkdir()
    (folder / "src/train.py").write_text(program)
    (folder / "evidence").mkdir()
    ends = []
    for rank in range(3):
        gone = rank == 1
        ends.append({"rank": rank, "pid": 100 + rank, "state": "exited" if gone else "running",
                     "exitcode": 0 if gone else None, "signal": None})  # fmt: skip
        if gone:
            continue
        (folder / f"evidence/stack_rank_{rank}.txt").write_text(stack(rank, op, *frames))
        (folder / f"evidence/rank_{rank}.log").write_text(gave_up(rank, op, 12))
    (folder / "evidence/exits.json").write_text(json.dumps(ends))
    return rankandfile.diagnose([folder / "evidence"], src=[folder / "src"]).verdicts[0]


def test_the_handler_of_a_signal_that_ends_the_process(tmp_path: Path) -> None:
    verdict = left_behind(tmp_path, "sys.exit(0)", ASKED)
    assert [one.rank for one in verdict.culprits] == [1] and verdict.cause in ("early_exit", "exited")
    assert verdict.location is not None and verdict.location.line == 7
    assert (
        "`sys.exit(0)` (train.py:7), in requeue, which runs when a signal reaches the rank"
        in verdict.sentence
    )


@pytest.mark.parametrize("leaves", ["sys.exit(3)", "print(signum)"], ids=["another code", "no exit"])
def test_no_line_is_named_where_none_can_have_ended_it_so(tmp_path: Path, leaves: str) -> None:
    verdict = left_behind(tmp_path, leaves, ASKED)
    assert [one.rank for one in verdict.culprits] == [1]
    assert "only line" not in verdict.sentence
    assert verdict.location is None or verdict.location.line != 7


PLANS = """import sys
import torch.distributed as dist


def plans(rank, queue):
    while True:
        box = [None]
        if rank == 0:
            box = [[each for each in queue.get() if each is not None]]
        dist.broadcast_object_list(box, src=0)
        yield box


def tidy(cache):
    if cache.crowded:
        sys.exit(0)


def main(cache, queue):
    for requests in plans(dist.get_rank(), queue):
        tidy(cache)


main(*__import__("job").parts())
"""


def test_what_only_another_rank_comes_to_did_not_end_it(tmp_path: Path) -> None:
    """The items that are left out under `if rank == 0` part nobody from rank 1, which never comes there."""
    frames = ("plans (train.py:10)", "main (train.py:20)", "<module> (train.py:24)")
    verdict = left_in(tmp_path, PLANS, "broadcast_object_list", frames)
    assert [one.rank for one in verdict.culprits] == [1]
    assert verdict.location is not None and verdict.location.line == 15, verdict.sentence
