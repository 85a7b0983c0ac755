"""Write the whole model as one file for inference."""

import os

import torch
import torch.distributed as dist

from sharding import full


def export(model, step, directory="export"):
    state = {name: full(value).clone() for name, value in model.state_dict().items()}
    if dist.get_rank() == 0:
        os.makedirs(directory, exist_ok=True)
        torch.save(state, os.path.join(directory, f"model_{step}.pt"))
    dist.barrier()
