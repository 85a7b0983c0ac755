"""A loop of a training job that goes wrong on rank 1 in step 20, in the way that the first argument names.
It says when.
With `healthy`, it does not, and ends after the seconds of the second argument.
"""

import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

how, seconds = sys.argv[1], float(sys.argv[2])
dist.init_process_group("gloo", timeout=timedelta(minutes=10))
rank, size = dist.get_rank(), dist.get_world_size()
half = dist.new_group(list(range(size)), timeout=timedelta(minutes=10))
weights, scalar = torch.ones(1000), torch.ones(1)


def reduce_mean(value):
    dist.all_reduce(value)
    return value / size


def loss():
    return reduce_mean(scalar.clone())


def accuracy():
    return reduce_mean(scalar.clone())


def norm():
    return reduce_mean(scalar.clone())


def wrong(name, step):
    if how != name or rank != 1 or step != 20:
        return False
    print("WRONG", time.time(), flush=True)
    return True


def train(step):
    time.sleep(0.05)
    if wrong("leaves", step):
        return True
    if wrong("subgroup", step):
        dist.all_reduce(torch.ones(5), group=half)
    elif wrong("order", step):
        dist.all_reduce(scalar.clone(), group=half)
        dist.all_reduce(weights)
        return False
    dist.all_reduce(torch.ones(1001 if wrong("size", step) else 1000))
    dist.all_reduce(scalar.clone(), group=half)
    loss()
    if wrong("extra", step):
        dist.all_reduce(scalar.clone())
    if wrong("barrier", step):
        dist.barrier()
    if wrong("broadcast", step):
        dist.broadcast(weights, 0)
    if wrong("helper", step):
        reduce_mean(torch.ones(3))
    if not wrong("skip", step):
        accuracy()
    dist.broadcast(weights, 1 if wrong("root", step) else 0)
    dist.all_reduce(scalar.clone(), dist.ReduceOp.MAX if wrong("reduction", step) else dist.ReduceOp.SUM)
    dist.all_reduce(torch.ones(4, dtype=torch.int32 if wrong("dtype", step) else torch.float32))
    return False


def numbers(step):
    """All calls alike: what is one call ahead hangs nowhere, and computes wrong numbers."""
    time.sleep(0.05)
    loss()
    if wrong("silent", step):
        dist.all_reduce(scalar.clone())
    if not wrong("silent_skip", step):
        accuracy()
    norm()


end = time.time() + seconds
step = 0
while True:
    step += 1
    if numbers(step) if how.startswith("silent") else train(step):
        break
    if how == "healthy":
        over = torch.tensor([float(time.time() > end)])
        dist.all_reduce(over, dist.ReduceOp.MAX)
        if over.item():
            break
dist.barrier()
dist.destroy_process_group()
