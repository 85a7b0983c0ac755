"""One place that knows whether anything is to be written."""

import torch.distributed as dist
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryAccuracy, BinaryF1Score


class Board:
    def __init__(self, every):
        self.every = every
        self.active = dist.get_rank() == 0
        self.metrics = MetricCollection({"accuracy": BinaryAccuracy(), "f1": BinaryF1Score()})
        self.rows = []

    def update(self, logits, wanted):
        self.metrics.update(logits.sigmoid(), wanted)

    def flush(self, step):
        if step % self.every or not self.active:
            return
        found = {name: round(value.item(), 3) for name, value in self.metrics.compute().items()}
        self.metrics.reset()
        self.rows.append((step, found))
        print(step, found, flush=True)
