import torch
import torch.distributed as dist
from storage import with_retries


def consolidated(model):
    """The mean of all ranks' weights: every rank takes part."""
    found = {}
    for name, value in model.state_dict().items():
        part = value.clone()
        dist.all_reduce(part)
        found[name] = part / dist.get_world_size()
    return found


def save(model, store, step):
    def once():
        state = consolidated(model)
        store.put(f"step-{step}", state)

    with_retries(once)
