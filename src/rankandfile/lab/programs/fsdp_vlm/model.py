"""A vision-language toy: image tower, text tower, shared head."""

import torch
from torch import nn

VOCABULARY = 48
WIDTH = 32
PATCH = 16


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class VisionTower(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.project = nn.Linear(PATCH, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(depth))

    def forward(self, patches):
        x = self.project(patches)
        for layer in self.layers:
            x = layer(x)
        return x.mean(dim=1, keepdim=True)


class TextTower(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(depth))

    def forward(self, tokens, prefix):
        x = self.embed(tokens) + prefix
        for layer in self.layers:
            x = layer(x)
        return x


class VisionLanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision = VisionTower()
        self.text = TextTower()
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, patches):
        prefix = self.vision(patches)
        return self.head(self.text(tokens, prefix))
