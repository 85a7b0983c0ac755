"""One of two gloo ranks that exercise what the recorder's pickler does, and then dump themselves.

Run as a script: `python gloo_dumps.py RANK FOLDER`.
"""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

import torch
import torch.distributed as dist


def nested(depth: int, tensor: torch.Tensor) -> None:
    """The same frame several times in one stack, as nested modules leave it."""
    if depth:
        nested(depth - 1, tensor)
    else:
        dist.all_reduce(tensor)


def main() -> None:
    rank, folder = int(sys.argv[1]), Path(sys.argv[2])
    limit = datetime.timedelta(seconds=40)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2, timeout=limit
    )
    pair = dist.new_group([0, 1], group_desc="pair")
    small, scalar, long = torch.ones(4), torch.tensor(1.0), torch.ones(3, 70_000)
    nested(3, small)
    _ = (dist.all_reduce(small), dist.broadcast(small, src=0))  # two calls on one line are two frames
    for _ in range(60):
        dist.all_reduce(small, group=pair)
        dist.all_reduce(scalar)
    dist.all_reduce(long)
    dist.all_gather([torch.zeros(4) for _ in range(2)], small)
    for i in range(140):  # enough distinct strings for the two-byte memo numbers to run out
        dist.all_reduce(torch.ones(2, 300 + i, dtype=torch.float64 if i % 2 else torch.float32))
        made = compile(f"def step_{i}(t):\n dist.all_reduce(t)", f"/made/{i}.py", "exec")
        exec(made, names := {"dist": dist})
        names[f"step_{i}"](small)
    dist.barrier()
    dump, dump_json = (
        torch._C._distributed_c10d._dump_fr_trace,
        torch._C._distributed_c10d._dump_fr_trace_json,
    )
    (folder / f"full_{rank}").write_bytes(dump())
    (folder / f"noframes_{rank}").write_bytes(dump(includeStackTraces=False))
    (folder / f"nothing_{rank}").write_bytes(dump(includeCollectives=False))
    (folder / f"json_{rank}").write_bytes(dump_json())
    (folder / f"emptyjson_{rank}").write_bytes(dump_json(includeCollectives=False))
    dist.barrier()


main()
