"""A stream of documents; the length of a batch varies."""

import torch


class Stream:
    def __init__(self, rank, vocabulary, seed=2):
        self.rank = rank
        self.vocabulary = vocabulary
        self.generator = torch.Generator().manual_seed(seed + 13 * rank)

    def batch(self, step):
        length = int(torch.randint(6, 14, (1,), generator=self.generator))
        tokens = torch.randint(0, self.vocabulary, (2, length + 1), generator=self.generator)
        return tokens[:, :-1], tokens[:, 1:]
