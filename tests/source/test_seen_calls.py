"""Who calls what by a variable: where the source alone does not say, stacks do."""

from __future__ import annotations

import pytest
from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

PHASES = """
    import functools

    PHASES = []

    def phase(name, idle=True):
        def register(function):
            @functools.wraps(function)
            def timed(slab):
                if idle and not len(slab):
                    return None
                return function(slab)
            PHASES.append(timed)
            return timed
        return register
"""

TRAIN = """
    import torch.distributed as dist
    from phases import PHASES, phase

    class Slab:
        def __init__(self, index):
            self.index, self.rows = index, [1]

        def __len__(self):
            return len(self.rows)

    @phase("warm")
    def warm(slab):
        dist.broadcast(slab.index, src=0)

    @phase("migrate")
    def migrate(slab):
        if slab.index != {odd}:  # <-
            dist.all_reduce(slab)

    def main():
        slab = Slab(dist.get_rank())
        for do in PHASES:
            do(slab)
        dist.barrier()
"""


@pytest.mark.parametrize("odd", [0, 2])
def test_what_a_phase_of_a_table_is_given_is_known(odd: int) -> None:
    run = play(3, train=TRAIN.format(odd=odd), phases=PHASES)
    verdict = verdict_of(run, odd, "rank_conditional")
    found = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked, found.sentence
    assert "the rank's own number" in found.sentence, found.sentence
