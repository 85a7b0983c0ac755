"""Process group set-up and the few reductions the trainer needs."""

import os
from datetime import timedelta

import torch
import torch.distributed as dist


def initialise(timeout_minutes):
    dist.init_process_group("gloo", timeout=timedelta(minutes=timeout_minutes))


def rank():
    return int(os.environ["RANK"])


def world_size():
    return int(os.environ["WORLD_SIZE"])


def is_main():
    return rank() == 0


def reduce_sum(values):
    """Element-wise sum of a list of floats over all ranks."""
    tensor = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(tensor)
    return tensor.tolist()


def any_rank(flag):
    """True on every rank if it is true on at least one."""
    tensor = torch.tensor([1 if flag else 0])
    dist.all_reduce(tensor, dist.ReduceOp.MAX)
    return bool(tensor.item())


def agree_on_seed(seed):
    """Rank 0's seed on every rank."""
    if is_main():
        chosen = torch.tensor([seed])
        dist.broadcast(chosen, src=0)
    else:
        chosen = torch.zeros(1, dtype=torch.int64)
        dist.broadcast(chosen, src=0)
    return int(chosen.item())


def shutdown():
    dist.barrier()
    dist.destroy_process_group()
