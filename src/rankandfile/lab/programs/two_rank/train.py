"""Two ranks add up three times, and then the first one tells the other the result."""

import time
from datetime import timedelta

import torch
import torch.distributed as dist


def add_up(total):
    for _ in range(3):
        dist.all_reduce(total)


def rest(seconds):
    time.sleep(seconds)


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    total = torch.ones(4)
    add_up(total)
    dist.broadcast(total, src=0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
