import os

import torch
import torch.distributed as dist
from clips import Clips
from torch.utils.data import DataLoader


class Mean:
    def __init__(self):
        self.total, self.count = torch.zeros(64), 0

    def add(self, clip):
        self.total += clip.sum(0)
        self.count += clip.shape[0]

    def reduced(self):
        total = self.total.clone()
        dist.all_reduce(total)
        return total / self.count


def run():
    loader = DataLoader(Clips(int(os.environ["RANK"])), batch_size=2, num_workers=1)
    mean = Mean()
    for clip in loader:
        mean.add(clip)
        mean.reduced()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    run()
    dist.destroy_process_group()
