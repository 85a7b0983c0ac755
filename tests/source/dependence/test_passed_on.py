"""Where what decides was handed over as an argument: the line on which that stands."""

from __future__ import annotations

from support.source.toy_runs import located, play

TRAIN = """
    import torch.distributed as dist

    def step(stage, n):
        if stage == 1 and n == 2:
            dist.broadcast(n, src=0)
        dist.all_reduce(n)

    def main():
        for n in range(4):
            step(
                dist.get_rank() % 2,  # <-
                n,
            )
"""


def test_an_argument_of_a_call_over_several_lines_is_told_by_its_own_line() -> None:
    run = play(train=TRAIN)
    where = located(run, 1).location
    assert where is not None
    file, line = run.marked
    assert f"`stage` is passed as `dist.get_rank() % 2` ({file}:{line})" in (where.why_it_can_differ or "")
