"""DDP over shards of unequal length: the rank with the shortest leaves the loop."""

import torch
from one_gpu import device, start
from torch.nn.parallel import DistributedDataParallel

rank, world = start()
model = DistributedDataParallel(torch.nn.Linear(64, 1).to(device()))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
shard = torch.randn(32 * (12 if rank == 3 else 20), 64)
for step, batch in enumerate(shard.split(32)):
    optimizer.zero_grad()
    model(batch.to(device())).square().mean().backward()
    optimizer.step()
    print(f"step {step}", flush=True)
total = torch.zeros(1, device=device())
torch.distributed.all_reduce(total)
print(f"total {total.item()}", flush=True)
torch.distributed.destroy_process_group()
