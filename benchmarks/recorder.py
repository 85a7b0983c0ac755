"""What the recorder costs: per call on torch's fake process group, and per training step on CPU with DDP and FSDP2.

    python -m rankandfile.runtime.recorder.native        # once: the optional fast path
    python benchmarks/recorder.py --docs docs/performance.md

Calls come from under twenty frames of Python. Steps with and without the recorder alternate in one run, in blocks, so
that whatever else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pages import write_block

BEGIN, END = "<!-- recorder: written by benchmarks/recorder.py -->", "<!-- recorder: end -->"
CALLS, BLOCKS, STEPS = 6000, 10, 4


def deep(frames: int, call: Callable[[], Any]) -> Any:
    return call() if frames == 0 else deep(frames - 1, call)


def per_call(what: str) -> dict[str, float]:
    """Microseconds of one all_reduce of four numbers, at the median."""
    import contextlib

    import torch
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore
    from torch.utils._python_dispatch import TorchDispatchMode

    from rankandfile.runtime.recorder.start import start

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    torch.set_num_threads(1)
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=8)
    if what.startswith("recorder"):
        start()
    tensor = torch.ones(4)
    times = []

    def timed() -> None:
        begin = time.perf_counter_ns()
        dist.all_reduce(tensor)
        times.append(time.perf_counter_ns() - begin)

    with Look() if what == "mode" else contextlib.nullcontext():
        for _ in range(CALLS):
            deep(15, timed)
    return {"us": statistics.median(times[500:]) / 1000}


def per_step(what: str) -> dict[str, float]:
    """Milliseconds of one training step, without and with the recorder."""
    import torch
    import torch.distributed as dist
    from torch.distributed.fsdp import fully_shard

    from rankandfile.runtime.recorder import current
    from rankandfile.runtime.recorder.start import start

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    layers = [torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True, dropout=0.0) for _ in range(4)]
    model: Any = torch.nn.Sequential(*layers)
    if what == "FSDP2":
        for layer in layers:
            fully_shard(layer)
        fully_shard(model)
    else:
        model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch = torch.randn(8, 64, 256)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    ratios, plain, calls = [], [], 0
    for _ in range(3):
        step()
    for _ in range(BLOCKS):
        means = {}
        for on in (False, True):
            if on:
                start()
            step()
            begin = time.perf_counter()
            for _ in range(STEPS):
                step()
            means[on] = (time.perf_counter() - begin) / STEPS
            if on:
                recorder = current.now.recorder
                calls = (recorder.next_number() - 1) // (STEPS + 1) if recorder else 0
                current.close()
        ratios.append(means[True] / means[False])
        plain.append(means[False])
    dist.barrier()
    time.sleep(0.5 if os.environ["RANK"] == "0" else 0)
    return {"ms": statistics.median(plain) * 1000, "ratio": statistics.median(ratios), "calls": calls}


def run(kind: str, what: str, ranks: int = 1, **env: str) -> dict[str, float]:
    with socket.socket() as probe, tempfile.TemporaryDirectory() as folder:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
        probe.close()
        common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(ranks)}
        common |= {"RAF_RING_DIR": folder, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", **env}
        processes = [
            subprocess.Popen(
                [sys.executable, __file__, "--measure", kind, what],
                env=common | {"RANK": str(rank)},
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for rank in range(ranks)
        ]
        answers = [process.communicate()[0] for process in processes]
    found: dict[str, float] = json.loads(answers[0].splitlines()[-1])
    return found


def lines() -> list[str]:
    off = {"TORCH_FR_BUFFER_SIZE": "0"}
    calls = {
        "bare torch, its own recorder off": run("call", "bare", **off)["us"],
        "torch's own recorder (its default)": run("call", "bare")["us"],
        "Rank & File's recorder, native": run("call", "recorder", **off)["us"],
        "Rank & File's recorder, pure Python": run("call", "recorder", RAF_NATIVE="0", **off)["us"],
        "a TorchDispatchMode that does nothing": run("call", "mode", **off)["us"],
    }
    bare = calls["bare torch, its own recorder off"]
    found = [
        f"`python benchmarks/recorder.py`: {len(os.sched_getaffinity(0))} processors. One `all_reduce` on torch's fake "
        "process group, under 20 frames of Python, stacks recorded; medians.",
        "",
        "| | per call | on top |",
        "| --- | ---: | ---: |",
        *(f"| {what} | {us:.1f} µs | {us - bare:+.1f} µs |" for what, us in calls.items()),
        "",
        "A training step of a small transformer on two ranks over gloo. Its calls, times what one costs above, are the "
        "share; measured is the median of blocks with against blocks without the recorder, in turn, and on a machine "
        "with other work it says no more than that the difference is lost in the noise.",
        "",
        "| | calls per step | step | share, native | measured | share, pure Python | measured |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    costs = [calls[f"Rank & File's recorder, {writer}"] - bare for writer in ("native", "pure Python")]
    for what in ("DDP", "FSDP2"):
        runs = [run("step", what, 2), run("step", what, 2, RAF_NATIVE="0")]
        columns = [
            f"{one['calls'] * cost / one['ms'] / 1000:.3%} | {one['ratio'] - 1:+.1%}"
            for one, cost in zip(runs, costs, strict=True)
        ]
        found.append(f"| {what} | {runs[0]['calls']:.0f} | {runs[0]['ms']:.0f} ms | {' | '.join(columns)} |")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docs", type=Path, help="rewrite the block of this page")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        kind, what = arguments.measure
        print(json.dumps(per_call(what) if kind == "call" else per_step(what)))
        return
    block = lines()
    print("\n".join(block))
    if arguments.docs:
        write_block(arguments.docs, BEGIN, END, block, "Recorder")


if __name__ == "__main__":
    main()
