import torch
import torch.distributed as dist
from scoring import evaluate
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.AdamW(model.parameters())
    held_out = [torch.randn(rows, 16) for rows in (2, 3, 4)]
    for epoch in range(2):
        for _ in range(6):
            loss = model(torch.randn(8, 16)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0 and epoch == 1:
            with torch.no_grad():
                evaluate(model.module, held_out)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
