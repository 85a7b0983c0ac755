"""Groups that share ranks; two ranks use theirs in the other order, and all wait in a circle."""

import torch
import torch.distributed as dist
from one_gpu import device, start

rank, world = start()
rows = dist.new_subgroups_by_enumeration([[0, 1], [2, 3]])[0]
columns = dist.new_subgroups_by_enumeration([[0, 2], [1, 3]])[0]
weights = torch.ones(4096, device=device())
for step in range(40):
    sharded, replicated = weights * step, weights * 2
    if rank in (1, 2) and step == 12:
        dist.all_reduce(replicated, group=columns)
        print(f"replicated {replicated[0].item()}", flush=True)
        dist.all_reduce(sharded, group=rows)
    else:
        dist.all_reduce(sharded, group=rows)
        print(f"sharded {sharded[0].item()}", flush=True)
        dist.all_reduce(replicated, group=columns)
    print(f"step {step} {replicated[0].item()}", flush=True)
dist.barrier()
dist.destroy_process_group()
