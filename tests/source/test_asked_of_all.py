"""A call of all behind a test on the rank, that the others do not pass: who makes it asks in vain."""

from __future__ import annotations

import pytest
from support.source.toy_runs import Run, case_of, diagnosis_of, locate, play, tree, undecided

from rankandfile.model.diagnosis import Verdict, Wait

PROGRAM = """
import torch.distributed as dist


def whiten(rewards, step):
    if step >= {first}:
        dist.all_reduce(rewards)
    return rewards


def forward_backward(step):
    closing = dist.get_rank() >= 2
    if closing:
        whiten(step, step)
    else:
        dist.recv(step, src=dist.get_rank() + 2)
    {after}


def main():
    for step in range(4):
        forward_backward(step)
        dist.barrier()
"""


def stuck(first: int, after: str = "pass") -> Verdict:
    """The last stage sums over all in this step, and the others are in a receive that nothing recorded."""
    run = play(4, train=PROGRAM.format(first=first, after=after))
    waits = {rank: [call for call in calls if call[0] == "all_reduce"] for rank, calls in run.calls.items()}
    at = run.calls[2].index(waits[2][0])
    receives = {rank: [way for op, way in run.calls[rank] if op == "recv"] for rank in (0, 1)}
    kept: dict[int, list] = {rank: [c for c in run.calls[rank] if c[0] != "recv"] for rank in run.calls}
    upto = sum(1 for c in run.calls[2][:at] if c[0] != "recv")
    run.calls = {rank: calls[: upto + (rank >= 2)] for rank, calls in kept.items()}
    seen = {0: receives[0][first], 1: receives[1][first], 2: run.calls[2][-1][1], 3: run.calls[3][-1][1]}
    return decided(run, Wait("2-3", "0-1", "default", upto + 1, "all_reduce"), seen)


def decided(run: Run, wait: Wait, seen: dict) -> Verdict:
    found = locate(case_of(run, seen), diagnosis_of(undecided(run, wait)), tree(run.files))
    return found.verdicts[0]


def test_who_alone_asks_all_by_a_test_on_the_rank_is_out_of_line() -> None:
    verdict = stuck(first=2)
    assert [one.rank for one in verdict.culprits] == [2, 3]
    assert verdict.cause == "rank_conditional"
    assert "all earlier calls of this group were made elsewhere" in verdict.sentence


@pytest.mark.parametrize(
    ("first", "after"),
    [(0, "pass"), (2, "dist.all_gather(None) if step < 2 and dist.get_rank() < 2 else None")],
    ids=["nothing came before it", "the calls before were not made alike"],
)
def test_where_no_round_shows_that_all_are_meant_to_do_alike_nobody_is_blamed(first: int, after: str) -> None:
    assert not stuck(first, after).culprits
