import torch
import torch.distributed as dist
from keeper import Keeper, save
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(rank, steps=12, every=6):
    model = DDP(nn.Sequential(nn.Linear(1200, 3000), nn.ReLU(), nn.Linear(3000, 1200)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    keeper = Keeper() if rank == 0 else None
    for step in range(1, steps + 1):
        model(torch.randn(2, 1200)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step == every and rank == 0:
            save(model.module, optimizer, keeper)
    return model


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train(dist.get_rank())
    dist.barrier()
    dist.destroy_process_group()
