"""What the recorder costs: per call on torch's fake process group, and per training step on CPU with DDP and FSDP2.

    python -m rankandfile.runtime.recorder.native        # once: the optional fast path
    python benchmarks/recorder.py --docs docs/performance.md

Calls come from under twenty frames of Python. Steps with and without the recorder alternate in one run, in blocks, so
that whatever else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import contextlib
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

from rankandfile.wire import layout

BEGIN, END = "<!-- recorder: written by benchmarks/recorder.py -->", "<!-- recorder: end -->"
SHARED = "/dev/shm" if Path("/dev/shm").is_dir() else None
CALLS, BLOCKS, STEPS, ALONE = 4000, 3, 3, 6


def deep(frames: int, call: Callable[[], Any]) -> Any:
    return call() if frames == 0 else deep(frames - 1, call)


def memory() -> dict[str, float]:
    """Megabytes of this process: its own, and in shared memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines if line.startswith("Rss"))
    return {name: int(found[name].split()[0]) / 1024 for name in ("RssAnon", "RssShmem")}


def look() -> Any:
    """A TorchDispatchMode that does nothing."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    return Look()


def per_call(what: str) -> dict[str, float]:
    """Microseconds of one all_reduce of four numbers, at the median: on the fake group, or on gloo."""
    import torch
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    from rankandfile.runtime.recorder.start import start

    torch.set_num_threads(1)
    gloo = what.startswith("gloo ")
    if gloo:
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=8)
    tensor = torch.ones(4)
    times = []

    def timed() -> None:
        begin = time.perf_counter_ns()
        dist.all_reduce(tensor)
        times.append(time.perf_counter_ns() - begin)

    before = memory()
    if what.endswith("recorder"):
        start()
    with look() if what.endswith("mode") else contextlib.nullcontext():
        for _ in range(CALLS // 4 if gloo else CALLS):
            deep(15, timed)
    grown = {name: now - before[name] for name, now in memory().items()}
    if gloo:
        dist.barrier()
        time.sleep(0.5 if os.environ["RANK"] == "0" else 0)
    return {"us": statistics.median(times[500:]) / 1000, **grown}


def model_and_step(what: str) -> Callable[[], None]:
    """A training step of a small transformer."""
    import torch
    from torch.distributed.fsdp import fully_shard

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

    return step


def per_step_alone(what: str) -> dict[str, float]:
    """Milliseconds of processor time of one rank per training step, with one tool for the whole run."""
    import torch
    import torch.distributed as dist

    from rankandfile.runtime.recorder.start import start

    how, _, tool = what.partition(" ")
    torch.set_num_threads(1)
    if tool == "recorder":
        start()
    dist.init_process_group("gloo")
    step = model_and_step(how)
    taken = []
    with look() if tool == "mode" else contextlib.nullcontext():
        for number in range(ALONE + 3):
            begin = time.process_time()
            step()
            if number >= 3:
                taken.append(time.process_time() - begin)
    dist.barrier()
    time.sleep(0.5 if os.environ["RANK"] == "0" else 0)
    return {"ms": statistics.median(taken) * 1000}


def per_step(what: str) -> dict[str, float]:
    """Milliseconds of one training step, without and with the recorder."""
    import torch
    import torch.distributed as dist

    from rankandfile.runtime.recorder import current
    from rankandfile.runtime.recorder.start import start

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    step = model_and_step(what)
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
    with socket.socket() as probe, tempfile.TemporaryDirectory(dir=SHARED) as folder:
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
    # torch 2.13 itself crashes with DDP over gloo under DETAIL.
    found: dict[str, float] = json.loads(answers[0].splitlines()[-1]) if answers[0] else {}
    return found


def _own(found: dict[str, float] | None, bare: float) -> str:
    return f"{found['us']:.1f} µs | {found['us'] - bare:+.1f} µs" if found is not None else "- | -"


def lines(save: Callable[[list[str]], None]) -> list[str]:
    off, detail = {"TORCH_FR_BUFFER_SIZE": "0"}, {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"}
    python = {"RAF_NATIVE": "0"}
    tools: dict[str, tuple[str, dict[str, str]]] = {
        "bare torch, its own recorder off": ("bare", off),
        "torch's own recorder (its default)": ("bare", {}),
        "Rank & File's recorder, native": ("recorder", off),
        "Rank & File's recorder, pure Python": ("recorder", off | python),
        "a TorchDispatchMode that does nothing": ("mode", off),
        "`TORCH_DISTRIBUTED_DEBUG=DETAIL`": ("bare", detail),
    }
    # torch cannot combine DETAIL with the fake group.
    fake = {name: run("call", what, **env) for name, (what, env) in tools.items() if env != detail}
    gloo = {name: run("call", f"gloo {what}", 2, **env)["us"] for name, (what, env) in tools.items()}
    bare, first = next(iter(fake.values()))["us"], next(iter(gloo.values()))
    found = [
        f"`python benchmarks/recorder.py`: {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.0f}. "
        "One `all_reduce` of four numbers under 20 frames of Python, stacks recorded; medians. On torch's fake "
        "process group it is the tool's own cost; between two ranks over gloo the time is mostly theirs.",
        "",
        "| | fake group | on top | gloo, 2 ranks | times |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {name} | {_own(fake.get(name), bare)} | {us:.0f} µs | {us / first:.1f} |"
            for name, us in gloo.items()
        ),
        "",
    ]
    size = layout.HEADER_SIZE + layout.CAPACITY * layout.RECORD_SIZE + layout.TABLE_SIZE
    grown = [fake[f"Rank & File's recorder, {writer}"] for writer in ("native", "pure Python")]
    found += [
        f"Memory per rank after {CALLS:,} calls: a ring of {size / 2**20:.1f} MB in shared memory, of which "
        f"{grown[0]['RssShmem']:.1f} MB are in use, and {grown[0]['RssAnon']:.1f} MB (native) or "
        f"{grown[1]['RssAnon']:.1f} MB (pure Python) of the process's own, imports included.",
        "",
        "A training step of a small transformer on two ranks over gloo. Its calls, times what one costs above, are the "
        "share; measured is the median of blocks with against blocks without the recorder, by turns, and on a machine "
        "with other work it says no more than that the difference is lost in the noise.",
        "",
        "| | calls per step | step | share, native | measured | share, pure Python | measured |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    costs = [one["us"] - bare for one in grown]
    for what in ("DDP", "FSDP2"):
        runs = [run("step", what, 2), run("step", what, 2, **python)]
        columns = [
            f"{one['calls'] * cost / one['ms'] / 1000:.3%} | {one['ratio'] - 1:+.1%}"
            for one, cost in zip(runs, costs, strict=True)
        ]
        found.append(f"| {what} | {runs[0]['calls']:.0f} | {runs[0]['ms']:.0f} ms | {' | '.join(columns)} |")
    save(found)
    found += [
        "",
        f"The same step with one tool for a whole run: processor time of rank 0 per step, median of {ALONE} steps. "
        f"On a machine with other work (load {os.getloadavg()[0]:.0f}) differences of some percent are noise.",
        "",
        "| | DDP | on top | FSDP2 | on top |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    steps = {
        name: [run("alone", f"{how} {what}", 2, **env).get("ms") for how in ("DDP", "FSDP2")]
        for name, (what, env) in tools.items()
    }
    plain = next(iter(steps.values()))
    for name, pair in steps.items():
        cells = [
            f"{ms:.0f} ms | {ms / without - 1:+.1%}" if ms and without else "torch crashes | -"
            for ms, without in zip(pair, plain, strict=True)
        ]
        found.append(f"| {name} | {' | '.join(cells)} |")
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
        measures = {"call": per_call, "step": per_step, "alone": per_step_alone}
        print(json.dumps(measures[kind](what)))
        return

    def save(block: list[str]) -> None:
        if arguments.docs:
            write_block(arguments.docs, BEGIN, END, block, "Recorder")

    block = lines(save)
    print("\n".join(block))
    save(block)


if __name__ == "__main__":
    main()
