"""One expert per rank, with its token exchange."""

import torch
from torch import nn

from dispatch import AllToAll, exchange_counts
from router import Router


class MixtureLayer(nn.Module):
    def __init__(self, width, group):
        super().__init__()
        self.group = group
        self.router = Router(width, group.size())
        self.expert = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x):
        order, counts, weight, load = self.router(x)
        incoming = exchange_counts(counts, self.group)
        send, receive = counts.tolist(), incoming.tolist()
        tokens = AllToAll.apply(x[order], send, receive, self.group)
        processed = self.expert(tokens)
        returned = AllToAll.apply(processed, receive, send, self.group)
        out = torch.zeros_like(x)
        out[order] = returned
        return x + out * weight.unsqueeze(-1), load
