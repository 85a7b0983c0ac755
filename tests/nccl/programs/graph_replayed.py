"""A reduction inside a CUDA graph; a rank stops replaying before the others."""

import torch
import torch.distributed as dist
from one_gpu import device, start

rank, world = start()
gradient = torch.ones(4096, device=device())
dist.all_reduce(gradient)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    dist.all_reduce(gradient)
for step in range(40):
    if rank == 2 and step == 12:
        break
    gradient.fill_(step)
    graph.replay()
    torch.cuda.synchronize()
    print(f"step {step} {gradient[0].item()}", flush=True)
done = torch.ones(1, device=device())
dist.all_reduce(done)
print(f"done {done.item()}", flush=True)
dist.destroy_process_group()
