"""One pipeline stage: a gated mixer and a feed-forward block, both split over the shards."""

import torch
from torch import nn

from parallel import Combine, Spread


class Mixer(nn.Module):
    def __init__(self, width, layout):
        super().__init__()
        part = width // layout.tp_size
        self.group = layout.tp_group
        self.value, self.gate = nn.Linear(width, part), nn.Linear(width, part)
        self.out = nn.Linear(part, width, bias=False)

    def forward(self, x):
        x = Spread.apply(x, self.group)
        return Combine.apply(self.out(self.value(x) * torch.sigmoid(self.gate(x))), self.group)


class FeedForward(nn.Module):
    def __init__(self, width, layout):
        super().__init__()
        self.group = layout.tp_group
        self.up = nn.Linear(width, 2 * width // layout.tp_size)
        self.down = nn.Linear(2 * width // layout.tp_size, width, bias=False)

    def forward(self, x):
        x = Spread.apply(x, self.group)
        hidden = torch.relu(self.up(x))
        return Combine.apply(self.down(hidden), self.group)


class Stage(nn.Module):
    def __init__(self, width, layout):
        super().__init__()
        self.mixer = Mixer(width, layout)
        self.feed_forward = FeedForward(width, layout)

    def forward(self, x):
        x = x + self.mixer(x)
        return x + self.feed_forward(x)
