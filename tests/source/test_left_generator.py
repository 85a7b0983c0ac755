"""Who leaves the loop over what a generator makes, while the others ask that for the next item."""

from __future__ import annotations

import pytest
from support.source.toy_runs import located, place, play

PROGRAM = """
import torch.distributed as dist

TEXTS = [[3, 3, 3, 3, 3, 3], [3, 3, 0, 3, 3, 3], [3, 3, 3, 3, 3, 3]]


class Sampler:
    def __init__(self, text):
        self.text = text

    def stream(self):
        for token in range(6):
            dist.all_gather(token)
            yield self.text[token]

    def sample(self):
        emitted = []
        for token in {items}:
            emitted.append(token)
            if token == 0:  # <-
                break
        return emitted


def main():
    sampler = Sampler(TEXTS[dist.get_rank()])
    for n in range(2):
        sampler.sample()
        dist.all_reduce(n)
"""


@pytest.mark.parametrize("items", ["self.stream()", "iter(self.stream())"])
def test_the_test_in_the_loops_body_is_the_line(items: str) -> None:
    run = play(3, train=PROGRAM.format(items=items))
    verdict = located(run, 1)
    assert (place(verdict.location), verdict.cause) == (run.marked, "early_exit")


def test_what_is_made_before_the_loop_is_no_step_of_it() -> None:
    run = play(3, train=PROGRAM.format(items="list(self.stream())"))
    assert {len(calls) for calls in run.calls.values()} == {14}
