"""A rank is killed, as the kernel does with one that takes too much memory."""

import os
import signal

import torch
import torch.distributed as dist
from one_gpu import device, start

rank, world = start()
weights = torch.ones(4096, device=device())
for step in range(40):
    if rank == 1 and step == 12:
        os.kill(os.getpid(), signal.SIGKILL)
    gradient = weights * step
    dist.all_reduce(gradient)
    weights.sub_(gradient, alpha=1e-6)
    print(f"step {step} {weights[0].item()}", flush=True)
dist.barrier()
dist.destroy_process_group()
