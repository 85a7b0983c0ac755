"""A kernel of one rank does not end: its host queues on, its GPU never comes to the next reduction."""

import torch
import torch.distributed as dist
from one_gpu import device, start

rank, world = start()
weights = torch.ones(4096, device=device())
for step in range(40):
    if rank == 3 and step == 12:
        torch.cuda._sleep(2**50)
    gradient = weights * step
    dist.all_reduce(gradient)
    weights.sub_(gradient, alpha=1e-6)
    print(f"step {step}", flush=True)
    if step % 4 == 3:
        print(f"norm {weights.norm().item()}", flush=True)
dist.barrier()
dist.destroy_process_group()
