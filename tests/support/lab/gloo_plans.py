"""Runs tiny per-rank plans as real gloo processes and tells what each rank issued and who never finished.

Run as a script: `python gloo_plans.py PLANS.json RESULTS.json`. It imports torch once and forks the ranks from there.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

_STILL_S = 0.7  # no rank has written anything for so long, nor wanted the processor: nobody can proceed
_LIMIT_S = 300.0


def rank_main(rank: int, plan: dict[str, Any], folder: str) -> None:
    log = os.open(f"{folder}/{rank}.log", os.O_CREAT | os.O_WRONLY)
    world = plan["world_size"]
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=world)
    groups = {"world": None, **{name: dist.new_group(ranks) for name, ranks in plan["groups"].items()}}
    dist.barrier()
    for op, group, peer, size in plan["ranks"][rank]:
        os.write(log, f"{op} {group} {peer}\n".encode())
        tensor = torch.ones(size)
        if op == "all_reduce":
            dist.all_reduce(tensor, group=groups[group])
        elif op == "send":
            dist.send(tensor, peer)
        elif op == "recv":
            dist.recv(tensor, peer)
    os.write(log, b"end\n")
    time.sleep(_LIMIT_S)  # a rank that has finished must not break the connections of those that wait


def run(plan: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("fork")
        ranks = range(plan["world_size"])
        workers = [context.Process(target=rank_main, args=(rank, plan, folder)) for rank in ranks]
        for worker in workers:
            worker.start()
        try:
            lines = _until_still(folder, [worker.pid for worker in workers if worker.pid is not None])
        finally:
            for worker in workers:
                if worker.pid is not None and worker.is_alive():
                    os.kill(worker.pid, signal.SIGKILL)
                worker.join()
    return {
        "issued": [[line for line in of_rank if line != "end"] for of_rank in lines],
        "stuck": [rank for rank, of_rank in enumerate(lines) if "end" not in of_rank],
    }


def _runs(pid: int) -> bool:
    """Whether any thread of a process runs, or would run if the machine were not busy."""
    states = [
        path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{pid}/task").glob("*/stat")
    ]
    return bool({"R", "D"} & set(states))


def _until_still(folder: str, pids: list[int]) -> list[list[str]]:
    begin = changed = time.monotonic()
    last: list[list[str]] = []
    while time.monotonic() - begin < _LIMIT_S:
        paths = [Path(f"{folder}/{rank}.log") for rank in range(len(pids))]
        lines = [path.read_text().splitlines() if path.exists() else [] for path in paths]
        if lines != last or any(map(_runs, pids)):
            last, changed = lines, time.monotonic()
        started = all(lines)
        if started and (all("end" in of_rank for of_rank in lines) or time.monotonic() - changed > _STILL_S):
            return lines
        time.sleep(0.02)
    raise TimeoutError("the ranks never came to rest")


if __name__ == "__main__":
    plans = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps([run(plan) for plan in plans]))
