"""A pipeline of four stages; one sends nothing on for an empty batch."""

import torch
import torch.distributed as dist
from one_gpu import device, start

rank, world = start()
hidden = torch.zeros(8192, device=device())
for step in range(40):
    if rank > 0:
        dist.recv(hidden, src=rank - 1)
    else:
        hidden.fill_(step)
    empty = rank == 1 and step == 12
    hidden = hidden + rank
    print(f"step {step} {hidden[0].item()}", flush=True)
    if rank < world - 1 and not empty:
        dist.send(hidden, dst=rank + 1)
dist.barrier()
dist.destroy_process_group()
