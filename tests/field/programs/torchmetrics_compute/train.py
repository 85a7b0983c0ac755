import torch
import torch.distributed as dist
from board import Board
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def batches(rank, count):
    made = torch.Generator().manual_seed(100 + rank)
    for _ in range(count):
        x = torch.randn(16, 4, generator=made)
        yield x, (x[:, 0] * x[:, 1] > 0).long()


def fit(model, board, rank):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step, (x, y) in enumerate(batches(rank, 60), start=1):
        logits = model(x).squeeze(-1)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, y.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        board.update(logits.detach(), y)
        board.flush(step)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    fit(DistributedDataParallel(model), Board(every=20), dist.get_rank())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
