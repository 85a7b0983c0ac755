"""One rank is still inside a framework's call that the other has come out of: the user's line of that call."""

from __future__ import annotations

import pytest
from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

from rankandfile.model.diagnosis import Verdict

METRICS = """
import torch.distributed as dist


class Collection:
    def __init__(self):
        self.states = {}

    def compute(self):
        for name in self.states:
            self.gather(name)

    def gather(self, name):
        dist.all_gather(name)

    def parts(self):
        return [0]
"""

TRAIN = """
import json
import torch.distributed as dist
from torchmetrics import Collection


def report(metrics):
    metrics.compute()  # <-


def main():
    metrics = Collection()
    for epoch in range(3):
        for name in json.loads('["a", "b"]' if dist.get_rank() == 1 and epoch == 1 else '["a"]'):
            metrics.states[name] = 0
        report(metrics)
        dist.all_reduce(epoch)
"""

IN_A_LOOP = TRAIN.replace(
    "    metrics.compute()", "    for part in metrics.parts():\n        metrics.compute()"
)


def located(program: str, cause: str = "skipped_collective") -> tuple[Verdict, tuple[str, int]]:
    files = {"site-packages/torchmetrics/__init__": METRICS, "train": program}
    run = play(**files)
    found = locate(
        case_of(run), diagnosis_of(verdict_of(run, 1, cause)), tree({"train.py": run.files["train.py"]})
    )
    return found.verdicts[0], run.marked


def test_the_line_of_the_call_that_one_rank_is_still_inside() -> None:
    verdict, marked = located(TRAIN)
    assert place(verdict.location) == marked
    assert "Rank 1 is still inside torchmetrics, called at train.py:" in verdict.sentence


def test_a_line_with_a_loop_around_it_makes_the_calls_one_by_one() -> None:
    verdict, _ = located(IN_A_LOOP)
    assert "still inside" not in verdict.sentence


@pytest.mark.parametrize(
    ("more", "cause"),
    [("dist.get_rank() == 1", "extra_collective"), ("dist.get_rank() != 1", "skipped_collective")],
)
def test_who_is_inside_made_a_call_more(more: str, cause: str) -> None:
    program = TRAIN.replace("dist.get_rank() == 1", more)
    assert program.count(more) == 1
    assert located(program, "rank_conditional")[0].cause == cause
