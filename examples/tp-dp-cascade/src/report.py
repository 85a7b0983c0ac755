"""Loss reporting."""

import logging

import torch
import torch.distributed as dist

log = logging.getLogger("report")


class LossReport:
    def __init__(self, layout):
        self.layout = layout
        self.values = []

    def add(self, loss):
        self.values.append(loss)

    def flush(self, step):
        mean = torch.tensor([sum(self.values) / len(self.values)])
        dist.all_reduce(mean, group=self.layout.dp_group)
        self.values.clear()
        log.info("step %d loss %.4f", step, mean.item() / self.layout.dp_size)
