"""An example: take it out, or write over it."""

from datetime import timedelta

import torch
import torch.distributed as dist


def train(steps: int) -> None:
    total = torch.ones(4)
    last = steps - dist.get_rank()
    for step in range(steps):
        if step < last:
            dist.all_reduce(total)
    dist.barrier()


def main() -> None:
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    train(8)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
