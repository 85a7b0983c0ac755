"""Gradient synchronisation over the replicas, and clipping over the shards."""

import torch
import torch.distributed as dist


def average_gradients(model, layout):
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    flat = torch.cat([g.reshape(-1) for g in grads])
    dist.all_reduce(flat, group=layout.dp_group)
    flat /= layout.dp_size
    offset = 0
    for grad in grads:
        grad.copy_(flat[offset : offset + grad.numel()].view_as(grad))
        offset += grad.numel()


def gradient_norm(model, layout):
    square = torch.zeros(1)
    for parameter in model.parameters():
        if parameter.grad is not None:
            square += parameter.grad.pow(2).sum()
    dist.all_reduce(square, group=layout.tp_group)
    return square.sqrt().item()


def clip(model, norm, limit):
    if norm > limit:
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad.mul_(limit / (norm + 1e-6))
