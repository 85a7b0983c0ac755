"""A noisy quadratic problem; each worker sees its own noise, and now and then an outlier."""

import torch

DIMENSION = 64


class Problem:
    def __init__(self, rank, seed=9):
        self.generator = torch.Generator().manual_seed(seed + 17 * rank)
        self.target = torch.linspace(-1, 1, DIMENSION)
        self.rank = rank
        self.draws = 0

    def gradient(self, point):
        self.draws += 1
        noise = torch.randn(DIMENSION, generator=self.generator) * 0.1
        if self.rank == 2 and self.draws == 11:
            noise[7] += 40.0  # a corrupt record in this worker's data
        return point - self.target + noise
