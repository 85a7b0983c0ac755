"""All are in one call of a library, which gathers what its object was given on each rank: upon what it was given it."""

from __future__ import annotations

import msgspec
import pytest
from support.source.toy_runs import (
    case_of,
    cohort,
    diagnosis_of,
    locate,
    located,
    place,
    play,
    tree,
    verdict_of,
)

from rankandfile.model.diagnosis import Divergence, Verdict

PROGRAM = """
import torch.distributed as dist
from torchmetrics import MeanMetric


class Board:
    def __init__(self, views):
        self.views = views
        self.all, self.night = MeanMetric(), MeanMetric()

    def look(self):
        for view in self.views:
            self.all.update(view)
            {guard}
                self.night.update(view)
        return [metric.compute() for metric in (self.all, self.night)]


def main():
    views = [[k, 9] for k in range(6)][dist.get_rank() :: 3]
    Board(views).look()
"""


def sized(guard: str, cause: str = "size_mismatch") -> tuple[Verdict, tuple[str, int] | None]:
    """All wait in the second gather, which rank 1 asks for another size in."""
    run = play(3, train=PROGRAM.format(guard=guard))
    made = {rank: len(calls) for rank, calls in run.calls.items()}
    assert set(made.values()) == {2}, "every rank makes both"
    said = verdict_of(run, 1, cause)
    cohorts = [cohort([0, 2], 0, run.calls[0], 1), cohort([1], 1, run.calls[1], 1)]
    parted = Divergence(group="0", seq=2, kind="argument", cohorts=cohorts)
    verdict = msgspec.structs.replace(said, divergence=parted)
    found = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    return found, run.marked if "# <-" in guard else None


@pytest.mark.parametrize("cause", ["size_mismatch", "different_collective"])
def test_the_test_upon_which_it_was_given_anything_is_the_line(cause: str) -> None:
    verdict, marked = sized("if view[0] >= 0:  # <-", cause)
    assert place(verdict.location) == marked
    assert verdict.cause == "size_mismatch"
    assert "gathers what the object was given on each rank" in verdict.sentence


def test_a_test_that_comes_out_alike_on_all_ranks_is_not() -> None:
    verdict, _ = sized("if view[1] == 9 or True:")
    assert verdict.location is None or verdict.location.condition is None


OWN_KEYS = """
import torch.distributed as dist


class Board:
    def __init__(self):
        self.by_site = {}

    def of(self, site):
        if site not in self.by_site:
            self.by_site[site] = []
        return self.by_site[site]

    def table(self):
        for site in sorted(self.by_site):  # <-
            dist.all_reduce(self.by_site[site])


def main():
    board = Board()
    for site in ["aab", "aac", "aaa"][dist.get_rank()]:
        board.of(site).append(1)
    dist.all_gather(board)
    board.table()
    dist.barrier()
"""


def test_a_test_that_makes_room_for_whatever_is_asked_for_does_not_decide_which_keys_there_are() -> None:
    run = play(3, train=OWN_KEYS)
    run.calls[0] = run.calls[1]
    assert place(located(run, 2).location) == run.marked
