"""A stage that is behind a loop may have come back early from what the others wait in: then it went round as often."""

from __future__ import annotations

import pytest
from support.source.toy_runs import (
    FOLDER,
    Frames,
    Run,
    case_of,
    diagnosis_of,
    locate,
    place,
    remarked,
    tree,
    undecided,
)

from rankandfile.model.diagnosis import Verdict, Wait

TORCH = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py"
PROGRAM = """
import torch.distributed as dist


def exchange(rows, peer):
    if {test}:  # <-
        return
    dist.send(rows, peer)
    dist.recv(rows, peer)  # inside


def run():
    rows, peers = open(f"part{{dist.get_rank()}}").readlines(), read_peers()
    for step in range(4):  # loop
        exchange(rows, peers[step])  # round
    dist.barrier()  # end


run()  # main
"""


def behind_the_loop(text: str, call: str, caller: str) -> Verdict:
    """Rank 0 is at the end, in a barrier; ranks 1 and 2 wait in a call, in a function that the loop calls."""
    file = f"{FOLDER}train.py"
    inside, round_, end, main = (remarked(text, remark) for remark in ("inside", "round", "end", "main"))
    outer = ("<module>", file, main)
    ended: Frames = (("run", file, end), outer)
    waits: Frames = ((call, TORCH, 1), (caller, file, inside), ("run", file, round_), outer)
    run = Run({"train.py": text}, {0: [("barrier", ended)], 1: [], 2: []})
    verdict = undecided(run, Wait(ranks="0", waits_for="1,2", group="0"))
    case = case_of(run, {0: ended, 1: waits, 2: waits})
    return locate(case, diagnosis_of(verdict), tree(run.files)).verdicts[0]


@pytest.mark.parametrize("test", ["not rows", "len(rows) > 7"])
def test_who_may_have_gone_by_a_message_upon_its_own_data_has_left_no_loop_early(test: str) -> None:
    text = PROGRAM.format(test=test).lstrip("\n")
    found = behind_the_loop(text, "recv", "exchange")
    assert place(found.location) == ("train.py", remarked(text, "<-")), found.sentence
    assert [one.rank for one in found.named] == [0] and found.cause == "skipped_collective"
    assert "may have gone by what they wait in (train.py:5)" in found.sentence


def test_who_makes_the_same_in_another_arm_has_not_gone_by_it() -> None:
    """The last stage alone has the loss, upon which it leaves the loop; in the step itself each has its own arm."""
    text = """
import torch.distributed as dist


def step(rows, peer):
    if rows:
        dist.batch_isend_irecv(rows)  # inside
    else:
        dist.batch_isend_irecv(peer)


def run():
    rows, peers = open(f"part{dist.get_rank()}").readlines(), read_peers()
    for n in range(4):  # loop
        step(rows, peers[n])  # round
        if len(rows) > n:  # <-
            break
    dist.barrier()  # end


run()  # main
""".lstrip("\n")
    found = behind_the_loop(text, "batch_isend_irecv", "step")
    assert place(found.location) == ("train.py", remarked(text, "<-")), found.sentence
    assert [one.rank for one in found.named] == [0] and found.cause == "early_exit"
