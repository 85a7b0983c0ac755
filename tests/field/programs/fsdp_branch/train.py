import torch
import torch.distributed as dist
from batches import make
from parts import Both
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def build(mesh):
    model = Both()
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model.tower, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def train(model, rank, steps=60):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(steps):
        out = model(make(rank, step))
        loss = (out - 1.0).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank == 0 and step % 10 == 0:
            print(step, round(loss.item(), 4), flush=True)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    train(build(mesh), dist.get_rank())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
