"""Gradients: averaged over the replicas, their norm summed over the shards."""

import torch
import torch.distributed as dist


def average(stage, layout):
    flat = torch.cat([p.grad.reshape(-1) for p in stage.parameters()])
    dist.all_reduce(flat, group=layout.dp_group)
    flat /= layout.dp_size
    offset = 0
    for parameter in stage.parameters():
        part = flat[offset : offset + parameter.numel()]
        parameter.grad.copy_(part.view_as(parameter))
        offset += parameter.numel()


def norm(stage, layout):
    square = sum(p.grad.pow(2).sum() for p in stage.parameters()).reshape(1)
    dist.all_reduce(square, group=layout.tp_group)
    return square.sqrt().item()


def clip(stage, size, limit=1.0):
    if size > limit:
        for parameter in stage.parameters():
            parameter.grad.mul_(limit / size)
