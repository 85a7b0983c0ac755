import os

import torch
import torch.distributed as dist
from brain import Enhancer


def signals(rank, count=24):
    drawn = torch.Generator().manual_seed(rank)
    return [torch.randn(2, 16, generator=drawn) * (1 + 2 * (rank == 1 and n % 4 == 3)) for n in range(count)]


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    brain = Enhancer(
        modules={"net": torch.nn.Linear(16, 16)},
        opt_class=lambda parameters: torch.optim.SGD(parameters, lr=0.001),
        hparams={"loud": 2.0},
        run_opts={"device": "cpu", "distributed_backend": "gloo", "noprogressbar": True},
    )
    brain.fit(range(2), signals(rank))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
