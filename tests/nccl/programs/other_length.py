"""A rank reduces a tensor as long as its own list of samples."""

import torch
import torch.distributed as dist
from one_gpu import device, start

rank, world = start()
weights = torch.ones(4096, device=device())
for step in range(40):
    dist.all_reduce(weights * step)
    samples = 200_000 if rank == 3 and step == 12 else 600_000
    losses = torch.rand(samples, device=device())
    dist.all_reduce(losses)
    print(f"step {step} {losses.mean().item():.3f}", flush=True)
dist.barrier()
dist.destroy_process_group()
