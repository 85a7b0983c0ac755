"""The whole network: embedding, mixture layers, output."""

from torch import nn

from experts import MixtureLayer


class Network(nn.Module):
    def __init__(self, layers, width, vocabulary, group):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.mixtures = nn.ModuleList(MixtureLayer(width, group) for _ in range(layers))
        self.out = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens).flatten(0, 1)
        loads = []
        for mixture in self.mixtures:
            x, load = mixture(x)
            loads.append(load)
        return self.out(x), loads
