"""What the ranks of the tests of the debug page run. Who only names them needs no torch."""

from __future__ import annotations

import ctypes
import os
from datetime import timedelta
from typing import Any

from rankandfile.runtime import debug

TOKEN = "a-token-of-the-test"


def looked_at(dumps: str, torchs_port: int, torchs_dumps: str) -> None:
    """Rank 1 holds Python's lock, so that it can answer nobody; both are killed by the test."""
    import torch
    import torch.distributed as dist

    debug.start(port=0, dump_dir=dumps, dump_interval=3, token=TOKEN)
    dist.init_process_group("gloo", timeout=timedelta(seconds=1000))
    from torch.distributed.debug import start_debug_server

    start_debug_server(
        port=torchs_port, dump_dir=torchs_dumps, dump_interval=4, fetch_timeout=1, start_method="fork"
    )
    one = torch.ones(4)
    for _ in range(3):
        dist.all_reduce(one)
    dist.broadcast(one, src=0)
    if dist.get_rank() == 1:
        holds_the_lock()
    dist.all_reduce(one)


def holds_the_lock() -> None:
    ctypes.PyDLL(None).sleep(1000)


def twice_and_off() -> list[Any]:
    """Started twice and stopped; and with the recorder switched off."""
    first, second = debug.start(port=0), debug.start(port=0)
    debug.stop()
    debug.stop()
    return [first is not None and not first.exists(), second is None, os.environ.get("RAF", "")]
