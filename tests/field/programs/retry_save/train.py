import torch
import torch.distributed as dist
from saving import save
from storage import Store
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(5, 5), nn.Linear(5, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    store = Store(rank)
    for step in range(1, 41):
        loss = model(torch.randn(4, 5)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            save(model.module, store, step)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
