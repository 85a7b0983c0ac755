"""A rank leaves out the backward pass of a batch whose loss is not finite, and goes on."""

import torch
from one_gpu import device, start
from torch.nn.parallel import DistributedDataParallel

rank, world = start()
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).to(device()))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
generator = torch.Generator().manual_seed(rank)
for step in range(40):
    batch = torch.randn(32, 64, generator=generator)
    if rank == 2 and step == 12:
        batch[3, 5] = float("nan")  # what a broken record of this rank's shard looks like
    loss = model(batch.to(device())).square().mean()
    print(f"step {step}", flush=True)
    if not torch.isfinite(loss):
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch.distributed.all_reduce(loss.detach())
torch.distributed.barrier()
torch.distributed.destroy_process_group()
