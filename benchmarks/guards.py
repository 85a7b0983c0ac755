"""What a guard costs: off, alone, and between ranks, beside one all_reduce plain and under torch's own checks.

    python benchmarks/guards.py --docs docs/performance.md

Ranks are processes on this machine, over gloo. With more ranks than processors everything between ranks is slower than
it would be; the ratios are what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from pages import write_block

BEGIN, END = "<!-- guards: written by benchmarks/guards.py -->", "<!-- guards: end -->"
ROUNDS = 400
#: Collectives of a step, as far as a program of two processors can have many.
CALLS = 20


def median_us(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    for _ in range(20):
        call()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def locally() -> dict[str, float]:
    """In one process, without a group."""
    from rankandfile import guard

    return {
        "agree": median_us(lambda: guard.agree(False), 20000),
        "same": median_us(lambda: guard.same(1), 20000),
        "about_to_call": median_us(lambda: guard.about_to_call("all_reduce"), 20000),
    }


def as_rank() -> dict[str, float]:
    """On one rank of several; all of them run this."""
    import torch
    import torch.distributed as dist

    from rankandfile import guard

    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=120))
    one = torch.ones(1)
    dist.all_reduce(one)

    def calls(announced: bool = False) -> None:
        for _ in range(CALLS):
            if announced:
                guard.about_to_call("all_reduce", one)
            dist.all_reduce(one)

    def guarded() -> None:
        guard.step(1)
        guard.agree(False, name="stop")
        guard.same("0.1", "rate")
        calls()

    few = ROUNDS // 4
    found = {"all_reduce": median_us(lambda: dist.all_reduce(one)), "step": median_us(calls, few)}
    if os.environ.get("TORCH_DISTRIBUTED_DEBUG") != "DETAIL":
        found["agree"] = median_us(lambda: guard.agree(False, name="stop"))
        found["same"] = median_us(lambda: guard.same("0.1", "rate"))
        found["about_to_call"] = median_us(lambda: guard.about_to_call("all_reduce", one))
        found["step guarded"] = median_us(guarded, few)
        found["step announced"] = median_us(lambda: calls(announced=True), few)
        found["share"] = median_us(lambda: guard.share(1, name="shared"))
        group_times = []
        for _ in range(5):
            begin = time.perf_counter()
            dist.new_group(backend="gloo")
            group_times.append(time.perf_counter() - begin)
        found["new_group"] = statistics.median(group_times) * 1e6
    dist.barrier()
    time.sleep(0.3 if os.environ["RANK"] == "0" else 0)
    return found


def measure(ranks: int, **env: str) -> dict[str, float]:
    """What rank 0 saw, in microseconds."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(ranks)}
    common |= {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", **env}
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, "--measure"],
            env=common | ({"RANK": str(rank)} if ranks else {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for rank in range(max(1, ranks))
    ]
    answers = [process.communicate()[0] for process in processes]
    found: dict[str, float] = json.loads(answers[0].splitlines()[-1])
    return found


def lines(counts: list[int]) -> list[str]:
    off, alone = measure(0, RAF_GUARDS="0"), measure(0)
    plain = {n: measure(n) for n in counts}
    detail = {n: measure(n, TORCH_DISTRIBUTED_DEBUG="DETAIL") for n in counts}

    def row(what: str, values: list[float]) -> str:
        return f"| {what} | " + " | ".join(f"{value:,.0f}" for value in values) + " |"

    return [
        f"`python benchmarks/guards.py`: {len(os.sched_getaffinity(0))} processors, gloo; medians in microseconds.",
        "",
        f"Off (`RAF_GUARDS=0`), `agree` takes {off['agree']:.2f} µs, `same` {off['same']:.2f} µs and `about_to_call` "
        f"{off['about_to_call']:.2f} µs; on, but without a process group, `agree` {alone['agree']:.2f} and `same` "
        f"{alone['same']:.2f} µs. Between ranks:",
        "",
        "| | " + " | ".join(f"{n} ranks" for n in counts) + " |",
        "| --- |" + " ---: |" * len(counts),
        row("`guard.agree`", [plain[n]["agree"] for n in counts]),
        row("`guard.same`", [plain[n]["same"] for n in counts]),
        row("`guard.about_to_call`, which talks to nobody", [plain[n]["about_to_call"] for n in counts]),
        row("`guard.share`, as seen by its source", [plain[n]["share"] for n in counts]),
        row("one-element `all_reduce`", [plain[n]["all_reduce"] for n in counts]),
        row("the same, `TORCH_DISTRIBUTED_DEBUG=DETAIL`", [detail[n]["all_reduce"] for n in counts]),
        row("`new_group` (what guards do without)", [plain[n]["new_group"] for n in counts]),
        row(f"a step of {CALLS} such calls", [plain[n]["step"] for n in counts]),
        row("the same with `step`, `agree` and `same`", [plain[n]["step guarded"] for n in counts]),
        row("the same with `about_to_call` before each call", [plain[n]["step announced"] for n in counts]),
        row("the same under DETAIL", [detail[n]["step"] for n in counts]),
        "",
        "DETAIL pays its price at every collective; a guard is paid where it stands, once a step.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--docs", type=Path, help="rewrite the block of this page")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(as_rank() if "RANK" in os.environ else locally()))
        return
    block = lines(arguments.ranks)
    print("\n".join(block))
    if arguments.docs:
        write_block(arguments.docs, BEGIN, END, block, "Guards")


if __name__ == "__main__":
    main()
