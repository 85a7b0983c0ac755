import torch
from torch import nn
from torch.utils.data import Dataset


class Parity(Dataset):
    def __init__(self, count, seed):
        made = torch.Generator().manual_seed(seed)
        self.x = torch.randint(0, 2, (count, 12), generator=made).float()
        self.y = self.x[:, :3].sum(dim=1).remainder(2)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, at):
        return {"features": self.x[at], "labels": self.y[at]}


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, features, labels=None):
        logits = self.layers(features).squeeze(-1)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        return {"loss": loss, "logits": logits}
