"""What passes between neighbouring stages; each shard talks to the same shard of the next stage."""

import torch
import torch.distributed as dist


class Link:
    def __init__(self, layout, shape):
        self.layout, self.shape = layout, shape
        self.sent = []

    def send_activation(self, x):
        self.sent.append((x, dist.isend(x, self.layout.next_rank, group=self.layout.pp_group)))

    def receive_activation(self):
        x = torch.empty(self.shape)
        dist.irecv(x, self.layout.previous_rank, group=self.layout.pp_group).wait()
        return x

    def send_gradient(self, grad):
        self.sent.append((grad, dist.isend(grad, self.layout.previous_rank, group=self.layout.pp_group)))

    def receive_gradient(self):
        grad = torch.empty(self.shape)
        dist.irecv(grad, self.layout.next_rank, group=self.layout.pp_group).wait()
        return grad

    def flush(self):
        for _tensor, work in self.sent:
            work.wait()
        self.sent.clear()
