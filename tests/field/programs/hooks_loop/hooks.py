import os

import torch.distributed as dist


class MeanLoss:
    def __call__(self, engine, loss):
        if engine.step % 8 == 0:
            dist.all_reduce(loss)


class Snapshot:
    def __init__(self, folder):
        self.folder = folder

    def __call__(self, engine, loss):
        if engine.step % 12:
            return
        names = [None] * dist.get_world_size()
        dist.all_gather_object(names, f"{self.folder}/{engine.step}")


def wanted(environment=os.environ):
    hooks = [MeanLoss()]
    folder = environment.get("SNAPSHOTS", "")
    if folder or int(environment["LOCAL_RANK"]) == 0:
        hooks.append(Snapshot(folder or "/tmp/snapshots"))
    return hooks
