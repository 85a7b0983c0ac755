"""Local steps between averages of parameters and momentum."""

import logging

import torch

from average import Averager
from problem import DIMENSION, Problem

log = logging.getLogger("worker")


class Worker:
    def __init__(self, rank, local_steps):
        self.averager = Averager()
        self.problem = Problem(rank)
        self.local_steps = local_steps
        self.point = torch.zeros(DIMENSION)
        self.momentum = torch.zeros(DIMENSION)

    def round(self):
        for _ in range(self.local_steps):
            self.momentum = 0.9 * self.momentum + self.problem.gradient(self.point)
            self.point = self.point - 0.05 * self.momentum
        self.point = self.averager.mean(self.point)
        momentum = self.averager.mean(self.momentum)
        self.momentum = momentum

    def distance(self):
        return (self.point - self.problem.target).norm().item()
