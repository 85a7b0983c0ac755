"""Checkpoints: rank 0 writes, everyone waits until the file is there."""

import os

import torch
import torch.distributed as dist

import parallel


class Checkpointer:
    def __init__(self, directory, keep=2):
        self.directory = directory
        self.keep = keep
        self.written = []

    def path(self, step):
        return os.path.join(self.directory, f"step_{step:06d}.pt")

    def save(self, step, model, optimizer):
        state = {"step": step, "model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
        if parallel.is_main():
            self.write(step, state)
        dist.barrier()

    def write(self, step, state):
        os.makedirs(self.directory, exist_ok=True)
        target = self.path(step)
        torch.save(state, target + ".tmp")
        os.replace(target + ".tmp", target)
        self.written.append(target)
        while len(self.written) > self.keep:
            os.remove(self.written.pop(0))
