import lightning as L
import torch
from metrics import Report, masked_error
from torch import nn


class Tagger(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 12)
        self.head = nn.Linear(12, 1)
        self.report = Report(self)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))

    def training_step(self, batch, index):
        x, y, rare = batch
        out = self(x)
        loss = nn.functional.mse_loss(out, y)
        self.report.tell("all", masked_error(out, y, torch.ones_like(rare)), index)
        if rare.any():
            self.report.tell("rare", masked_error(out, y, rare), index)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
