"""Named statistics that are summed over the workers."""

import torch
import torch.distributed as dist


def total(statistics):
    """Sum every statistic over all workers."""
    result = {}
    for name in sorted(statistics):
        value = torch.tensor(statistics[name], dtype=torch.float64).reshape(-1)
        dist.all_reduce(value)
        result[name] = value.tolist()
    return result


def best_worker(score):
    """The worker with the lowest score, known to all."""
    scores = [None] * dist.get_world_size()
    dist.all_gather_object(scores, score)
    return scores.index(min(scores))


def adopt(vector, owner):
    """Everyone takes over the owner's vector."""
    dist.broadcast(vector, src=owner)
    return vector
