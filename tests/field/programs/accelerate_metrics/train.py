import torch
from accelerate import Accelerator
from evaluate import Scores, evaluate
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def data(count, seed):
    made = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 5, generator=made)
    return DataLoader(TensorDataset(x, (x.sum(dim=1) > 0).long()), batch_size=8)


def main():
    accelerator = Accelerator(cpu=True)
    tell = accelerator.is_main_process
    model = nn.Linear(5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, training, testing = accelerator.prepare(model, optimizer, data(256, 0), data(96, 1))
    for epoch in range(4):
        for x, y in training:
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        if epoch % 2:
            scores = evaluate(model, testing, Scores(accelerator), tell)
            if tell:
                print(f"epoch {epoch}: {scores.accuracy:.2f}", flush=True)
    accelerator.end_training()


if __name__ == "__main__":
    main()
