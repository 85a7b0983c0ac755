"""What a plan costs, and how soon it ends a job whose ranks part.

    python benchmarks/plan.py cost            # a step of 100 ms at 8 ranks, bare and under a plan
    python benchmarks/plan.py call            # one call in a process by itself
    python benchmarks/plan.py lab [NAME...]   # the lab's programs of ranks on different paths, and their healthy twins
    python benchmarks/plan.py sets FOLDER...  # those of opened blind sets, and the healthy programs of these sets

Ranks are processes on this machine, over gloo. A step of the first waits for 100 ms in place of computing, so that it
can be had for 8 ranks on two processors; what a plan costs takes processor time beside it.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from planning.programs import lab
from planning.sets import sets

from rankandfile.lab.ranks import free_port
from rankandfile.lab.source_tree import ScenarioError
from rankandfile.model.errors import UserError

RANKS, STEP_S, CALLS, STEPS, JOBS = 8, 0.1, 20, 40, 3


def as_rank() -> None:
    """On one of several ranks; one prints what the best tenth of each kind of step takes, by both clocks."""
    import torch
    import torch.distributed as dist

    from rankandfile.control import Plan
    from rankandfile.runtime.recorder import current

    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=120))
    ones = torch.ones(1)

    def step() -> None:
        time.sleep(STEP_S)
        for _ in range(CALLS):
            dist.all_reduce(ones)

    took: dict[str, list[tuple[float, float]]] = {"bare": [], "held": [], "decided": []}

    def timed(kind: str, make: Callable[[], None]) -> None:
        begin = time.perf_counter(), time.process_time()
        make()
        took[kind].append((time.perf_counter() - begin[0], time.process_time() - begin[1]))

    for _ in range(STEPS):  # before there is any plan: nothing of it can be taken away again
        timed("bare", step)
    held, decided = Plan(), Plan(stop="any")
    gate = current.now.gate
    assert gate is not None

    def under(plan: Plan, **wishes: bool) -> None:
        gate.steps = plan._steps
        with plan.step(0, **wishes):
            step()

    for _ in range(STEPS):  # in turns: what else the machine does then falls on both
        timed("held", lambda: under(held))
        timed("decided", lambda: under(decided, stop=False))
    if dist.get_rank() == 1:
        best = {
            kind: [statistics.quantiles(column, n=10)[0] for column in zip(*rows[5:], strict=True)]
            for kind, rows in took.items()
        }
        print(json.dumps(best))
    dist.barrier()
    dist.destroy_process_group()


def cost() -> None:
    """Several times, as the bare steps of a job come before the others: the best of each kind counts."""
    times = _best([_job() for _ in range(JOBS)])
    print(
        f"{CALLS} all_reduces a step of {STEP_S * 1e3:.0f} ms, {RANKS} ranks, "
        f"{os.cpu_count()} processors; the best tenth of {JOBS} jobs' steps"
    )
    print(
        "| step | takes, ms | processor time of a rank, ms | more, of 100 ms |\n| --- | ---: | ---: | ---: |"
    )
    for kind, (wall, processor) in times.items():
        more = (processor - times["bare"][1]) / STEP_S * 100
        print(f"| {kind} | {wall * 1e3:.1f} | {processor * 1e3:.2f} | {more:+.2f} % |")


def _job() -> dict[str, list[float]]:
    environment = {**os.environ, "WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "RAF_NATIVE": "0"}
    environment |= {"MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    ranks = [
        subprocess.Popen(
            [sys.executable, __file__, "rank"],
            env={**environment, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(RANKS)
    ]
    times: dict[str, list[float]] = json.loads([one.communicate()[0] for one in ranks][1])
    return times


def _best(jobs: list[dict[str, list[float]]]) -> dict[str, list[float]]:
    return {kind: [min(job[kind][clock] for job in jobs) for clock in (0, 1)] for kind in jobs[0]}


def call() -> None:
    """What one all_reduce costs its thread, in a process by itself: its backend does nothing."""
    import torch
    import torch.distributed as dist
    from torch.testing._internal.distributed import fake_pg  # noqa: F401  # registers the backend

    from rankandfile.control import Plan
    from rankandfile.runtime.plan.talks import Talks
    from rankandfile.runtime.recorder import current

    Talks.confirm = lambda *_: None  # type: ignore[method-assign]  # there is nobody who could
    torch.set_num_threads(1)
    dist.init_process_group("fake", rank=1, world_size=RANKS, store=dist.HashStore())
    ones = torch.ones(1)

    def step() -> None:
        for _ in range(CALLS):
            dist.all_reduce(ones)

    def best(make: Callable[[], None]) -> float:
        took = []
        for _ in [None] * 500:  # from one line, as a step's calls are
            begin = time.thread_time_ns()
            make()
            took.append(time.thread_time_ns() - begin)
        return statistics.quantiles(took, n=10)[0] / CALLS / 1000

    bare = best(step)
    plan = Plan()
    gate, current.now.gate = current.now.gate, None
    kernels = best(step)
    current.now.gate = gate

    def held() -> None:
        with plan.step(0):
            step()

    for _ in [None] * 2:  # the first time it has no long past yet
        planned = best(held)
    print(f"one call takes {bare:.1f} us bare, {kernels:.1f} seen in Python, {planned:.1f} held to a plan")
    os._exit(0)


if __name__ == "__main__":
    what = sys.argv[1] if sys.argv[1:] else "cost"
    try:
        if what == "rank":
            as_rank()
        elif what == "lab":
            lab(sys.argv[2:])
        elif what == "sets":
            sets([Path(folder) for folder in sys.argv[2:]])
        elif what == "call":
            call()
        else:
            cost()
    except (ScenarioError, UserError) as error:
        raise SystemExit(str(error)) from error
