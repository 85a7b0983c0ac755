"""What a plan costs, and how soon it ends a job whose ranks part.

    python benchmarks/plan.py cost            # a step of 100 ms at 8 ranks, bare and under a plan
    python benchmarks/plan.py call            # one call in a process by itself
    python benchmarks/plan.py lab [NAME...]   # the lab's programs of ranks on different paths, and their healthy twins

Ranks are processes on this machine, over gloo. A step of the first waits for 100 ms in place of computing, so that it
can be had for 8 ranks on two processors; what a plan costs takes processor time beside it.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from rankandfile.lab import catalog
from rankandfile.lab.ranks import Ranks, free_port
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import ScenarioError, build, locate
from rankandfile.model.causes import CAUSES

RANKS, STEP_S, CALLS, STEPS, JOBS = 8, 0.1, 20, 40, 3
_LEFT = re.compile(r"ranks? ([\d,-]+) left the plan(?: at ([\d:]+\.\d+))?|Parted (at) ([\d:]+\.\d+);")


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


def lab(names: list[str]) -> None:
    chosen = [catalog.get(name) for name in names] or [
        one
        for one in catalog.scenarios()
        if one.cause in CAUSES and CAUSES[one.cause].family == "paths" and one.hang and not one.needs
    ]
    print(
        "| program | ended after | rank | line | healthy twin |\n| --- | ---: | --- | --- | --- |", flush=True
    )
    for scenario in chosen:
        print(f"| {scenario.name} | {_hanging(scenario)} | {_twin(scenario)} |", flush=True)


def _hanging(scenario: Scenario) -> str:
    with tempfile.TemporaryDirectory(prefix="plan-") as folder:
        ended, log, src = _run(scenario, Path(folder), fixed=False)
        found = _LEFT.search(log)
        if not ended:
            return "**hangs** | | "
        if "out of plan" not in log and "OutOfPlan" not in log:
            return "by itself | | "
        if found is None:
            return "told | ? | "
        who = (
            "among those named"
            if found[1] is None
            else "right"
            if _is(scenario, found[1])
            else f"**{found[1]}**"
        )
        return f"{_after(found[2] or found[4], ended)} | {who} | {_line(scenario, log, src)}"


def _is(scenario: Scenario, named: str) -> bool:
    """Whoever is named is a culprit."""
    parts = [part.partition("-") for part in named.split(",")]
    ranks = {rank for first, _, last in parts for rank in range(int(first), int(last or first) + 1)}
    return ranks <= set(scenario.culprits)


def _after(clock: str | None, ended: float) -> str:
    if clock is None:
        return "?"
    day = datetime.fromtimestamp(ended)
    at = datetime.strptime(clock, "%H:%M:%S.%f").replace(year=day.year, month=day.month, day=day.day)
    return f"{(day - at).total_seconds():.1f} s"


def _line(scenario: Scenario, log: str, src: Path) -> str:
    """Whether the call that the rank was about to make is the one in which the truth has it parted."""
    told = re.search(r"ranks? [\d,-]+: .*", log)
    words = told[0] if told else ""
    wanted = [
        place
        for cohort in scenario.divergence.cohorts
        if set(cohort.ranks) & set(scenario.culprits) and cohort.at is not None
        for place in [locate(cohort.at, src, scenario.name)]
    ]
    if scenario.location is not None:
        wanted.append(locate(scenario.location, src, scenario.name))
    seen = any(f"{Path(place.file).name}:{place.line}" in log for place in wanted)
    return "right" if seen else words.partition(": ")[2][:70]


def _twin(scenario: Scenario) -> str:
    with tempfile.TemporaryDirectory(prefix="plan-") as folder:
        ended, log, _ = _run(scenario, Path(folder), fixed=True)
    if not ended:
        return "**hangs**"
    return "**stopped**" if "out of plan" in log or "OutOfPlan" in log else "ran to its end"


def _run(scenario: Scenario, job: Path, fixed: bool) -> tuple[float, str, Path]:
    """When its last rank ended (0 where it did not), what it wrote, and its sources."""
    control, src = job / "control", job / "src"
    control.mkdir()
    build(scenario, src, fixed=fixed)
    command = [sys.executable, "-m", "rankandfile", "run", "--plan", "enforce", "--stall", "40"]
    ended = 0.0
    with Ranks(
        scenario, src, control, twin=fixed, under=[*command, "--out", str(job / "case"), "--"]
    ) as ranks:
        until = time.monotonic() + scenario.limit_s
        while time.monotonic() < until and not ended:
            time.sleep(0.02)
            if len(ranks.exits()) == scenario.world_size or ranks.over:
                ended = time.time()
    texts = [path.read_text(errors="replace") for path in sorted(control.glob("*.log"))]
    return ended, "\n".join(texts), src


if __name__ == "__main__":
    what = sys.argv[1] if sys.argv[1:] else "cost"
    if what == "rank":
        as_rank()
    elif what == "lab":
        try:
            lab(sys.argv[2:])
        except ScenarioError as error:
            raise SystemExit(str(error)) from error
    elif what == "call":
        call()
    else:
        cost()
