"""Shard the model with FSDP2: every layer of both towers is a unit, the rest is the root."""

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor


def shard(model):
    mesh = init_device_mesh("cpu", (dist.get_world_size(),), mesh_dim_names=("fsdp",))
    for tower in (model.vision, model.text):
        for layer in tower.layers:
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return mesh


def full(tensor):
    """The whole tensor on every rank; all ranks must ask."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
