import torch
import torch.distributed as dist


def over_workers(value):
    told = torch.tensor([float(value)])
    dist.all_reduce(told)
    return float(told) / dist.get_world_size()
