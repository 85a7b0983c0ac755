"""FSDP: a rank skips the forward pass of a batch that is too short, and with it the gathering of the parameters."""

import torch
from one_gpu import device, start
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, world = start()
torch.manual_seed(0)
mesh = init_device_mesh(device().type, (world,), mesh_dim_names=("dp",))
model = torch.nn.Sequential(*(torch.nn.Linear(128, 128) for _ in range(3))).to(device())
for layer in model:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(30):
    tokens = 3 if rank == 1 and step == 12 else 128
    batch = torch.randn(tokens, 128, device=device())
    print(f"step {step} tokens {tokens}", flush=True)
    if len(batch) < 8:
        continue
    model(batch).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
torch.distributed.barrier()
torch.distributed.destroy_process_group()
