import torch
from accelerate import Accelerator
from reading import batches
from shards import listing, mine
from torch import nn


class Loop:
    def __init__(self, accelerator):
        self.accelerator = accelerator
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
        self.model, self.optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
        self.shards = mine(listing(), accelerator.process_index, accelerator.num_processes)

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.accelerator.backward(loss)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def epoch(self, number):
        total = torch.zeros(())
        for x, y in batches(self.shards):
            total += self.step(x, y)
        mean = self.accelerator.reduce(total, "mean")
        self.accelerator.print(f"epoch {number}: {mean.item():.3f}")


def main():
    accelerator = Accelerator(cpu=True)
    loop = Loop(accelerator)
    for number in range(3):
        loop.epoch(number)
    accelerator.wait_for_everyone()


if __name__ == "__main__":
    main()
