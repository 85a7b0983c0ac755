import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, pictures):
        return self.inner(pictures)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.tanh(self.mix(x))


class Both(nn.Module):
    """Words always, pictures where there are some."""

    def __init__(self, width=8, depth=2):
        super().__init__()
        self.words = nn.Embedding(32, width)
        self.tower = Tower(width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, batch):
        x = self.words(batch["words"]).mean(dim=1)
        if batch["pictures"] is not None:
            x = x + self.tower(batch["pictures"])
        for block in self.blocks:
            x = block(x)
        return self.head(x)
