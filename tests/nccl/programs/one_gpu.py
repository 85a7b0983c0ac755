"""Several ranks of NCCL on one GPU: it takes each for a node of its own, and they talk through sockets."""

import os
from datetime import timedelta

import torch
import torch.distributed as dist

LIMIT = timedelta(seconds=int(os.environ.get("WATCHDOG_SECONDS", "30")))


def start() -> tuple[int, int]:
    """The process group; this rank and how many there are."""
    rank = int(os.environ["RANK"])
    os.environ["NCCL_HOSTID"] = f"node-{rank}"
    os.environ["NCCL_SOCKET_IFNAME"] = "lo"
    if torch.cuda.is_available():
        torch.cuda.set_device(0)
        dist.init_process_group("nccl", timeout=LIMIT, device_id=torch.device("cuda", 0))
    else:
        dist.init_process_group("gloo", timeout=LIMIT)
    return rank, dist.get_world_size()


def device() -> torch.device:
    return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
