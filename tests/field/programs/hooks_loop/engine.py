import torch
import torch.distributed as dist
from torch import nn


class Engine:
    def __init__(self, model, hooks):
        self.model = model
        self.hooks = list(hooks)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        self.step = 0

    def one(self, x):
        loss = self.model(x).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.average()
        self.optimizer.step()
        self.step += 1
        return loss.detach()

    def average(self):
        for parameter in self.model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad /= dist.get_world_size()

    def run(self, batches):
        for x in batches:
            loss = self.one(x)
            for hook in self.hooks:
                hook(self, loss)


def network():
    torch.manual_seed(0)
    return nn.Linear(4, 4)
