"""Gradient and statistics reductions."""

import torch
import torch.distributed as dist


def shared_parameters(network):
    """Everything but the experts, which differ by rank on purpose."""
    return [p for name, p in network.named_parameters() if ".expert." not in name]


def reduce_shared(network):
    works = [dist.all_reduce(p.grad, async_op=True) for p in shared_parameters(network)]
    for work in works:
        work.wait()
    for parameter in shared_parameters(network):
        parameter.grad /= dist.get_world_size()


def mean_load(loads):
    load = torch.stack(loads).mean(dim=0).detach()
    dist.all_reduce(load)
    return load / dist.get_world_size()
