"""A stage that waits for a message of one that has done all that comes before its own call: it was left out."""

from __future__ import annotations

import msgspec
import pytest
from support.source.toy_runs import (
    FOLDER,
    Frames,
    Run,
    case_of,
    diagnosis_of,
    locate,
    place,
    tree,
    verdict_of,
)

from rankandfile.model.diagnosis import Verdict, Wait

TORCH = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py"
PROGRAM = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


def silent(chunk):
    return bool(chunk.abs().max() < 0.1)


def chunks(stage, count, own):
    for i in range({rounds}):
        x = torch.empty(4)
        dist.recv(x, src=stage - 1)  # asks
        if {skips}:  # test
            continue
        dist.send(x, dst=stage + 1)


def main():
    dist.init_process_group()
    stage = dist.get_rank()
    own = list(DataLoader(open(f"part{{stage}}").readlines()))
    chunks(stage, 5, own)  # inside
    dist.barrier()  # end


main()  # main
"""


def stuck(rounds: str = "count", skips: str = "silent(own[i])") -> Verdict:
    """Ranks 0 and 1 wait in the barrier, rank 2 for a message of rank 1, and rank 3 for one of rank 2."""
    text = PROGRAM.format(rounds=rounds, skips=skips).lstrip("\n")

    def at(remark: str) -> int:
        return next(n for n, line in enumerate(text.splitlines(), 1) if line.endswith(f"# {remark}"))

    def frames(waits: bool) -> Frames:
        outer = ("<module>", f"{FOLDER}train.py", at("main"))
        if not waits:
            return (("main", f"{FOLDER}train.py", at("end")), outer)
        inner = ("chunks", f"{FOLDER}train.py", at("asks"))
        return (("recv", TORCH, 1), inner, ("main", f"{FOLDER}train.py", at("inside")), outer)

    stand = {rank: frames(rank > 1) for rank in range(4)}
    run = Run({"train.py": text}, {rank: [] for rank in stand})
    for rank in (0, 1):
        run.calls[rank].append(("barrier", stand[rank]))
    verdict = msgspec.structs.replace(
        verdict_of(run, 0, "undetermined"),
        culprits=[],
        divergence=None,
        waits=[Wait(ranks="0,1", waits_for="2,3", group="0")],
        victims="",
    )
    found = locate(case_of(run, stand), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    if found.culprits:
        assert found.location is not None
        assert place(found.location) == ("train.py", at("test"))
    return found


def test_who_may_leave_a_message_out_by_its_own_data_did() -> None:
    verdict = stuck()
    assert [one.rank for one in verdict.culprits] == [1]
    assert verdict.cause == "skipped_collective"
    assert "Rank 2 waits for a message of rank 1" in verdict.sentence


@pytest.mark.parametrize(
    ("rounds", "skips"),
    [("count", "count > 9"), ("len(own)", "silent(own[i])"), ("count", "stage == 1")],
)
def test_nobody_is_named_where_no_data_or_another_number_of_rounds_decides(rounds: str, skips: str) -> None:
    assert not stuck(rounds, skips).culprits
