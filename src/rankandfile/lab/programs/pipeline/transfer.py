"""Transfers between neighbouring stages."""

import torch
import torch.distributed as dist

MICROBATCH = 4
WIDTH = 24


class Link:
    def __init__(self, layout):
        self.layout = layout
        self.pending = []

    def send_activation(self, x):
        self.pending.append(dist.isend(x, self.layout.next_rank, group=self.layout.pp_group))

    def receive_activation(self):
        x = torch.empty(MICROBATCH, WIDTH)
        dist.irecv(x, self.layout.previous_rank, group=self.layout.pp_group).wait()
        return x

    def send_gradient(self, grad):
        self.pending.append(dist.isend(grad, self.layout.previous_rank, group=self.layout.pp_group))

    def receive_gradient(self):
        grad = torch.empty(MICROBATCH, WIDTH)
        dist.irecv(grad, self.layout.next_rank, group=self.layout.pp_group).wait()
        return grad

    def flush(self):
        for work in self.pending:
            work.wait()
        self.pending.clear()


def exchange_statistics(layout, mine):
    """Swap a small vector with both neighbours in one batch; returns what came in."""
    operations, received = [], []
    for neighbour in (layout.previous_rank, layout.next_rank):
        if neighbour is not None:
            inbox = torch.empty_like(mine)
            received.append(inbox)
            operations.append(dist.P2POp(dist.isend, mine, neighbour, group=layout.pp_group))
            operations.append(dist.P2POp(dist.irecv, inbox, neighbour, group=layout.pp_group))
    if operations:
        for work in dist.batch_isend_irecv(operations):
            work.wait()
    return received
