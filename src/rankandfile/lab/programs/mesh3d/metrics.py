"""Numbers of the whole job, the same on every rank."""

import logging

import torch
import torch.distributed as dist

log = logging.getLogger("metrics")


class Metrics:
    def __init__(self, layout):
        self.layout = layout
        self.loss = self.norm = 0.0

    def add(self, loss, norm):
        self.loss += loss
        self.norm = max(self.norm, norm)

    def report(self, step):
        loss = torch.tensor([self.loss])
        dist.all_reduce(loss)
        largest = torch.tensor([self.norm])
        dist.all_reduce(largest, op=dist.ReduceOp.MAX)
        speakers = self.layout.dp_size * self.layout.tp_size
        log.info("step %d loss %.5f largest norm %.3f", step, loss.item() / speakers, largest.item())
        self.loss = self.norm = 0.0
