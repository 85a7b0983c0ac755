"""Each tensor-parallel shard is written once, by the first replica."""

import os

import torch
import torch.distributed as dist


def save(step, model, optimizer, layout, directory="checkpoints"):
    if layout.writes_checkpoints:
        os.makedirs(directory, exist_ok=True)
        target = os.path.join(directory, f"step{step:05d}_tp{layout.tp_rank}.pt")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, target)
    dist.barrier()
