"""Loops that become slow or stand still, on rank 1: `slow.py HOW SECONDS`. They say when they begin to.

`behind` takes longer and longer between two calls, `storm` does not keep up with calls that nobody waits for, `frozen`
waits for what never comes.
"""

import sys
import threading
import time
from datetime import timedelta

import torch
import torch.distributed as dist

how, seconds = sys.argv[1], float(sys.argv[2])
dist.init_process_group("gloo", timeout=timedelta(minutes=10))
rank = dist.get_rank()
begun = time.time()
said = threading.Event()


def wrong():
    if not said.is_set() and rank == 1:
        print("WRONG", time.time(), flush=True)
    said.set()


def prepared(step):
    time.sleep(0.1)
    late = time.time() - begun - 60
    if how == "behind" and rank == 1 and late > 0:
        wrong()
        time.sleep(min(0.3 + late / 100, 1.0))
    if how == "frozen" and rank == 1 and step == 50:
        wrong()
        threading.Event().wait()
    return torch.full((1000,), float(step))


def train(step):
    batch = prepared(step)
    # No two clocks are alike: whether the time is over goes round with the batch.
    batch[0] = float(time.time() - begun >= seconds)
    dist.all_reduce(batch)
    return bool(batch[0])


def log_all(step, works):
    """Nobody waits for them, but for the first ones."""
    works.append(dist.all_reduce(torch.full((10,), float(step)), async_op=True))
    if step < 50:
        works.pop().wait()
        return
    wrong()
    time.sleep(0.05 if rank == 1 else 0.005)


step, kept, over = 0, [], False
while not over:
    step += 1
    if how == "storm":
        log_all(step, kept)
        over = time.time() - begun >= seconds
    else:
        over = train(step)
