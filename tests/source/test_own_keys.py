"""A loop over what an object keeps under keys: who lacks one of them makes a call less, and has run out of nothing."""

from __future__ import annotations

import pytest
from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

METERS = """
import torch.distributed as dist


class Meters:
    def __init__(self):
        self.rows = {}

    def note(self, name):
        if name not in self.rows:
            self.rows[name] = 0

    def names(self):
        return sorted(self.rows)

    def __iter__(self):
        yield from sorted(self.rows.items())

    def summary(self):
        for name in ITEMS:  # <-
            dist.all_reduce(name)


def main():
    meters = Meters()
    for number in range(3):
        if number < 2 or ODD:
            meters.note(str(number))
    dist.all_gather(1)
    meters.summary()
    dist.barrier()
"""
FEWER, MORE = "dist.get_rank() != 2", "dist.get_rank() == 2"


@pytest.mark.parametrize("given", ["early_exit", "rank_conditional", "uneven_inputs"])
@pytest.mark.parametrize("items", ["self.names()", "self", "sorted(self.rows)"])
@pytest.mark.parametrize(
    ("odd", "cause"), [(FEWER, "skipped_collective"), (MORE, "extra_collective")], ids=["fewer", "more"]
)
def test_who_has_other_keys_makes_a_call_more_or_less(items: str, odd: str, cause: str, given: str) -> None:
    run = play(4, train=METERS.replace("ITEMS", items).replace("ODD", odd))
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 2, given)), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked
    assert found.cause == (cause if given != "uneven_inputs" else given), (
        "what the evidence established stays"
    )
