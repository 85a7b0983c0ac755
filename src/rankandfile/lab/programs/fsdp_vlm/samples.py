"""Mixed batches: most have an image, some are text only."""

import torch

from model import PATCH, VOCABULARY

TEXT_ONLY_EVERY = 7


class Samples:
    def __init__(self, rank, batch=4, length=10, seed=3):
        self.rank, self.batch, self.length = rank, batch, length
        self.generator = torch.Generator().manual_seed(seed + 101 * rank)
        self.index = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.index += 1
        tokens = torch.randint(0, VOCABULARY, (self.batch, self.length + 1), generator=self.generator)
        patches = torch.rand((self.batch, 6, PATCH), generator=self.generator)
        return {"tokens": tokens[:, :-1], "targets": tokens[:, 1:], "patches": patches}
