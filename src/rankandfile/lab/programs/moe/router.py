"""Top-1 routing of tokens to experts that live on different ranks."""

import torch
from torch import nn


class Router(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = experts

    def forward(self, x):
        probabilities = torch.softmax(self.gate(x), dim=-1)
        weight, choice = probabilities.max(dim=-1)
        order = choice.argsort(stable=True)
        counts = torch.bincount(choice, minlength=self.experts)
        return order, counts, weight, probabilities.mean(dim=0)
