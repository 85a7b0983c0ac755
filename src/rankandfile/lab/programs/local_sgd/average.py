"""Averages of flat vectors over all workers."""

import logging

import torch.distributed as dist

log = logging.getLogger("average")


class Averager:
    def __init__(self, group=None):
        self.group = group
        self.size = dist.get_world_size(group)

    def mean(self, vector):
        result = vector.clone()
        dist.all_reduce(result, group=self.group)
        result /= self.size
        return result
