"""What each stage computes, and the batches."""

import torch
from torch import nn

from transfer import MICROBATCH, WIDTH


def build_stage(layout):
    layers = []
    for _ in range(2):
        layers += [nn.Linear(WIDTH, WIDTH), nn.Tanh()]
    return nn.Sequential(*layers)


class Batches:
    def __init__(self, step, replica, microbatches):
        generator = torch.Generator().manual_seed(step * 100 + replica)
        shape = (microbatches, MICROBATCH, WIDTH)
        self._inputs = torch.rand(shape, generator=generator)
        self._targets = torch.rand(shape, generator=generator)

    def inputs(self, index):
        return self._inputs[index]

    def targets(self, index):
        return self._targets[index]
