"""Each rank takes the best score that it knows itself for the one to copy from."""

import torch
import torch.distributed as dist
from one_gpu import device, start

rank, world = start()
weights = torch.ones(500_000, device=device())
for step in range(40):
    dist.all_reduce(weights)
    weights /= world
    best = rank % 2 if step == 12 else 0
    dist.broadcast(weights, src=best)
    print(f"step {step} {weights[0].item()}", flush=True)
dist.barrier()
dist.destroy_process_group()
