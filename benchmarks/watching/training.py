"""A training as it goes on for days: `training.py all SECONDS`, on four ranks, two stages of two replicas each.

Micro-batches go up and gradients come back; replicas reduce with DDP. Now and then it is evaluated, by all or by the
first rank alone, checkpoints are written, by some ranks or beside the training, and some rank is late: for a moment,
for seconds, or a little in every step for a while. Nothing of it is wrong.
"""

import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

seconds = float(sys.argv[2])
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
stage, replica = divmod(rank, size // 2)
replicas = [dist.new_group([0, 1]), dist.new_group([2, 3])][stage]
lines = [dist.new_group([0, 2]), dist.new_group([1, 3])][replica]
peer = (rank + 2) % size
model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 64), nn.ReLU()), process_group=replicas)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
chance = random.Random(rank)
MICRO_BATCHES = 4
slow_from, slow_s = 0, 0.0


def load(step):
    """Data come late now and then, and on one rank for a while: on each at its own time."""
    global slow_from, slow_s
    drawn = chance.random()
    time.sleep(0.01 + (3 + 4 * chance.random() if drawn < 0.003 else 0.3 * (drawn < 0.03)))
    if chance.random() < 0.002:
        slow_from, slow_s = step, 0.05
    if step - slow_from < 40:
        time.sleep(slow_s)
    return torch.randn(8, 64)


def train(step):
    optimizer.zero_grad()
    kept, begun = [], []
    for batch in range(MICRO_BATCHES):
        if stage == 0:
            out = model(load(step))
            begun.append(dist.isend(out.detach(), peer, group=lines))
        else:
            taken = torch.empty(8, 64)
            dist.recv(taken, peer, group=lines)
            taken.requires_grad_()
            out = model(taken)
        kept.append((out, taken if stage else None))
        if stage:
            back(batch, kept)
            begun.append(dist.isend(kept[batch][1].grad, peer, group=lines))
    for batch in range(MICRO_BATCHES if stage == 0 else 0):
        back(batch, kept)
    for work in begun:
        work.wait()
    optimizer.step()


def back(batch, kept):
    out, _ = kept[batch]
    if stage:
        out.square().mean().backward()
    else:
        gradient = torch.empty(8, 64)
        dist.recv(gradient, peer, group=lines)
        out.backward(gradient)


def evaluate(step):
    with torch.no_grad():
        for _ in range(chance.randint(1, 5)):  # shards are of different lengths
            model.module(torch.randn(8, 64))
            time.sleep(0.2)
        told = torch.tensor([float(rank), 1.0])
        dist.all_reduce(told)
    if step % 150 == 0:
        if rank == 0:
            time.sleep(8)  # metrics, on one processor
        dist.barrier()


def save(step, folder):
    state = {name: value.clone() for name, value in model.state_dict().items()}
    if step % 200 == 0 and replica == 0:
        torch.save(state, folder / f"{stage}-{step}.pt")
        time.sleep(3)
    elif replica == 0:
        threading.Thread(target=torch.save, args=(state, folder / f"{stage}-late.pt")).start()
    if step % 200 == 0:
        dist.barrier()


def over():
    told = torch.tensor([float(time.time() > end)])
    dist.all_reduce(told, dist.ReduceOp.MAX)
    return bool(told.item())


end, step = time.time() + seconds, 0
with tempfile.TemporaryDirectory() as folder:
    while not over():
        step += 1
        train(step)
        if step % 50 == 0:
            evaluate(step)
        if step % 40 == 0:
            save(step, Path(folder))
    dist.barrier()
dist.destroy_process_group()
