"""`uneven_inputs`: the loop over a rank's own share of the data ended before those of the others."""

from __future__ import annotations

from support.source.toy_runs import located, place, play


def test_a_loop_over_a_loader_of_its_own_length() -> None:
    run = play(
        train="""
        import torch.distributed as dist
        from torch.utils.data import DataLoader

        ROWS = list(range(11))

        def main():
            for row in DataLoader(ROWS[dist.get_rank() :: dist.get_world_size()]):  # <-
                dist.all_reduce(row)
            dist.barrier()
        """
    )
    verdict = located(run, culprit=2)
    assert (verdict.cause, place(verdict.location)) == ("uneven_inputs", run.marked)
