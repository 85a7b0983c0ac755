"""How often loops further out came round is supposed only where nothing else brings the rank to where it is."""

from __future__ import annotations

from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

MODULES = """
class Module:
    def __call__(self, x):
        return self.forward(x)
"""

PROGRAM = """
import torch.distributed as dist
from nn import Module


class Layer(Module):
    def forward(self, x):
        dist.all_gather(x)
        dist.all_gather(x)
        return x


class Model(Module):
    def __init__(self):
        self.layers = [Layer(), Layer()]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Worker:
    def __init__(self, sessions):
        self.sessions, self.model = sessions, Model()

    def decode(self, batch):
        if not batch:  # <-
            return []
        return self.model(batch)

    def run(self):
        members = []
        for group in ([0, 1], [2]):
            if dist.get_rank() in group:
                members = group
        for tick in range(8):
            batch = [one for one in self.sessions if one[0] <= tick < one[1]]
            for _ in self.decode(batch):
                pass
            if tick % 4 == 3:
                dist.all_reduce(members)


def main():
    mine = [(0, 8), (0, 2), (0, 8)][dist.get_rank() :: 3]
    Worker(mine).run()
"""


def test_a_module_calls_its_forward_once_and_who_stands_before_its_last_line_has_come_in_anew() -> None:
    """Rank 1 has no session left in the third round: neither in the loop over layers, nor in the one over rounds, need
    anything be supposed but that it came round, as it did for the others."""
    run = play(3, **{"site-packages/torch/nn": MODULES, "train": PROGRAM})
    files = tree({"train.py": run.files["train.py"]})
    verdict = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), files).verdicts[0]
    assert place(verdict.location) == run.marked


WATCHED = """
import torch.distributed as dist


class Box:
    def __init__(self):
        self.losses = []

    def watch(self, step, n):
        loss = step(n)
        if loss > 8:  # <-
            self.snapshot()
        self.losses.append(loss)

    def snapshot(self):
        dist.all_gather(self.losses)


def step(n):
    dist.all_reduce(n)
    return [[1] * 6, [1, 1, 1, 9, 1, 1]][dist.get_rank()][n]


def main():
    box = Box()
    for n in range(6):
        box.watch(step, n)
        if n % 5 == 4:
            dist.barrier()
"""


def test_who_makes_a_call_more_in_a_function_that_a_loop_further_out_goes_through_has_left_no_loop() -> None:
    run = play(2, train=WATCHED)
    said = verdict_of(run, 1, "early_exit")
    verdict = locate(case_of(run), diagnosis_of(said), tree(run.files)).verdicts[0]
    assert (place(verdict.location), verdict.cause) == (run.marked, "extra_collective")
