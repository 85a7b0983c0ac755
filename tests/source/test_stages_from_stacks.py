"""Stages of a pipeline of which only stacks and logs are left, and which nobody says how many they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.source.written_evidence import gave_up, stack

import rankandfile
from rankandfile.source.one_rank import OneRank
from rankandfile.source.one_rank.job import Job
from rankandfile.source.program.modules import Program

PROGRAM = """import torch.distributed as dist
from torch.utils.data import DataLoader

def take(stage):
    dist.recv({buffer}, src={before})

def stages(stage, chunks):
    for n in range(5):
        take(stage)
        if {skips}:
            continue
        dist.send(chunks[n], dst=stage + 1)

def main():
    stage = dist.get_rank()
    stages(stage, list(DataLoader(open(f"part{stage}").readlines())))
    dist.barrier()

main()
"""
_OF = "[rank{rank}]:[E1126 08:31:10.389647245 ProcessGroupNCCL.cpp:{at}] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] "
WATCHDOGS = {
    True: _OF.replace("{at}", "2271")
    + "failure detected by watchdog at work sequence id: 4 PG status: last enqueued work: 4, last completed work: 3\n",
    False: _OF.replace("{at}", "1746")
    + "Received a dump signal due to a collective timeout from rank 0 and we will try our best to dump the debug "
    "info. Last enqueued NCCL work: 3, last completed NCCL work: 3.\n",
}
_ASKED = "get_rank, get_world_size"


def left_behind(folder: Path, skips: str, before: str = "stage - 1") -> rankandfile.Diagnosis:
    """Ranks 0 and 1 wait in the barrier, rank 2 for a message of rank 1, and rank 3 for one of rank 2."""
    for name in ("src", "evidence"):
        (folder / name).mkdir()
    text = PROGRAM.replace("{skips}", skips).replace("{before}", before).replace("{buffer}", "bytearray(4)")
    (folder / "src" / "train.py").write_text(text)
    for rank in range(4):
        inside = ("take (train.py:5)", "stages (train.py:9)", "main (train.py:16)")
        op, where = ("recv", inside) if rank > 1 else ("barrier", ("main (train.py:17)",))
        (folder / "evidence" / f"stack_rank_{rank}.txt").write_text(
            stack(rank, op, *where, "<module> (train.py:19)")
        )
        words = ("" if rank > 1 else gave_up(rank, "barrier", 4)) + WATCHDOGS[rank < 2].format(rank=rank)
        (folder / "evidence" / f"rank_{rank}.log").write_text(words)
    return rankandfile.diagnose([folder / "evidence"], src=[folder / "src"])


@pytest.mark.parametrize(
    ("skips", "before", "named"),
    [
        pytest.param("max(chunks[n]) < 0.1", "stage - 1", [1], id="by its own data"),
        pytest.param("len(__file__) > 9", "stage - 1", [], id="alike on all"),
        # Of a ring nothing is known before anybody knows how many are in it.
        pytest.param("max(chunks[n]) < 0.1", "(stage - 1) % dist.get_world_size()", [], id="of a ring"),
    ],
)
def test_who_left_out_the_message_that_the_next_stage_waits_for(
    skips: str, before: str, named: list[int], tmp_path: Path
) -> None:
    verdict = left_behind(tmp_path, skips, before).verdicts[0]
    assert [one.rank for one in verdict.culprits] == named, verdict.sentence
    if named:
        assert verdict.location is not None and verdict.location.line == 10
        assert "Rank 2 waits for a message of rank 1" in verdict.sentence


@pytest.mark.parametrize(
    "asked",
    ["get_world_size()", "get_rank() % 2 < get_world_size()", "get_rank() == get_world_size() - 1"],
)
def test_of_a_job_of_unknown_size_nothing_follows_from_its_size(asked: str) -> None:
    class Files:
        def paths(self) -> list[str]:
            return ["train.py"]

        def read(self, path: str) -> str:
            return f"from torch.distributed import *\n\ndef ask():\n    return {asked}\n".replace("*", _ASKED)

    program = Program(Files())
    module = program.module("train.py")
    assert module is not None
    (ask,) = [function for function in module.functions if function.name == "ask"]
    returned = ask.node.body[-1].value
    assert OneRank(program, 1, Job(world=None)).outcomes(returned, ask) == {True, False}
    assert len(OneRank(program, 1, Job(world=4)).outcomes(returned, ask)) == 1
