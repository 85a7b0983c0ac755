"""All micro-batches forward, then all of them backward in reverse."""

from torch.nn import functional as F


class Schedule:
    def __init__(self, stage, link, layout):
        self.stage, self.link, self.layout = stage, link, layout

    def run(self, batches):
        """Returns the summed loss; only the last stage has one."""
        kept = []
        for index in range(len(batches)):
            x = self._input(batches, index)
            y = self.stage(x)
            kept.append((x, y))
            if not self.layout.is_last:
                self.link.send_activation(y.detach())
        total = 0.0
        for index in reversed(range(len(batches))):
            x, y = kept[index]
            total += self._backward(batches, index, y)
            if not self.layout.is_first:
                self.link.send_gradient(x.grad)
        self.link.flush()
        return total

    def _input(self, batches, index):
        if self.layout.is_first:
            return batches.inputs[index]
        return self.link.receive_activation().requires_grad_()

    def _backward(self, batches, index, y):
        if not self.layout.is_last:
            y.backward(self.link.receive_gradient())
            return 0.0
        loss = F.mse_loss(y, batches.targets[index]) / len(batches)
        loss.backward()
        return loss.item()
