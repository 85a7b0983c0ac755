import torch
import torch.distributed as dist


class Session:
    """Everybody says goodbye, whatever happened."""

    def __init__(self):
        self.notes = {}

    def __enter__(self):
        dist.barrier()
        return self

    def note(self, name, value):
        self.notes[name] = value

    def __exit__(self, kind, error, trace):
        every = [None] * dist.get_world_size()
        dist.all_gather_object(every, self.notes)
        if dist.get_rank() == 0:
            print("notes", [len(one or {}) for one in every], flush=True)
        return False


def mean(value):
    told = torch.tensor([value])
    dist.all_reduce(told)
    return told.item() / dist.get_world_size()
