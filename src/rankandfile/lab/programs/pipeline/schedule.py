"""Fill-drain pipeline schedule over point-to-point transfers."""

import torch

from transfer import Link


class Pipeline:
    def __init__(self, stage, layout, microbatches, loss_fn):
        self.stage = stage
        self.layout = layout
        self.microbatches = microbatches
        self.loss_fn = loss_fn
        self.link = Link(layout)

    def run(self, batches):
        """One forward and one backward over all micro-batches; returns the mean loss on the last stage."""
        kept, losses = [], []
        for index in range(self.microbatches):
            x = batches.inputs(index) if self.layout.is_first else self.link.receive_activation()
            x.requires_grad_(not self.layout.is_first)
            y = self.stage(x)
            kept.append((x, y))
            if not self.layout.is_last:
                self.link.send_activation(y.detach())
        for index in reversed(range(self.microbatches)):
            x, y = kept[index]
            if self.layout.is_last:
                loss = self.loss_fn(y, batches.targets(index)) / self.microbatches
                losses.append(loss.item())
                loss.backward()
            else:
                y.backward(self.link.receive_gradient())
            if not self.layout.is_first:
                self.link.send_gradient(x.grad)
        self.link.flush()
        return torch.tensor([sum(losses)], dtype=torch.float32)
