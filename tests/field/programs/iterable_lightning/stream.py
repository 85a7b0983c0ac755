import torch
from torch.utils.data import IterableDataset, get_worker_info


class Stream(IterableDataset):
    """Every process reads the documents whose number falls to it."""

    def __init__(self, lengths, rank, world):
        self.lengths, self.rank, self.world = lengths, rank, world

    def __iter__(self):
        worker = get_worker_info()
        assert worker is None, "one reader per process"
        for number, length in enumerate(self.lengths):
            if number % self.world != self.rank:
                continue
            made = torch.Generator().manual_seed(number)
            for _ in range(length):
                x = torch.randn(6, generator=made)
                yield x, x.sum().reshape(1)
