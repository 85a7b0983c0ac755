"""The job of the soak: a launcher that forks ranks and starts them again, and their program with its faults.

    python job.py PLAN.json

What it writes to its output, and its exit code, depend on the plan alone and not on time: that is what a run under
`raf run` is compared by. Under torchrun, which tells the rank in the environment, it is the rank's program only.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

#: How long a rank is given to fail by itself when another has.
GRACE_S = 40.0
#: Before a fault: the others are in the call that it makes fail.
SETTLE_S = 0.3


def say(line: str) -> None:
    """Whole lines, whoever else writes."""
    os.write(1, f"{line}\n".encode())


def rank_main(plan: dict[str, Any]) -> int:
    rank, attempt = int(os.environ["RANK"]), int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=plan["timeout"]))
    one = torch.ones(4)
    for _ in range(plan["burst"]):
        dist.all_reduce(one)
        one.fill_(1.0)
    _many_sites(plan["sites"], one)
    for step in range(plan["steps"]):
        if step == plan["gate"] and attempt == 0:
            _gate(Path(plan["folder"]), rank)
        fault = plan["faults"].get(f"{attempt}")
        if fault and fault["step"] == step:
            _come_to_the_fault(Path(plan["folder"]), attempt, rank, fault["rank"], plan["world"])
            if fault["rank"] == rank:
                _fail(fault["how"])
        value = torch.full((4,), float(rank + step))
        try:
            dist.all_reduce(value)
        except RuntimeError as error:
            # torchrun ends whoever is left, who may or may not have come to this line by then.
            if not plan["torchrun"]:
                say(f"attempt {attempt} rank {rank} step {step}: {type(error).__name__}")
            return 1
        say(f"attempt {attempt} rank {rank} step {step}: {value[0].item():.0f}")
    # Nobody leaves while somebody may still receive.
    dist.barrier()
    (Path(plan["folder"]) / f"checkpoint_{rank}").write_text(f"{plan['steps']}\n")
    dist.destroy_process_group()
    return int(plan["code"]) if rank == 1 else 0


def _many_sites(count: int, one: torch.Tensor) -> None:
    """Calls from so many different lines of so many files."""
    for number in range(count):
        code = compile(f"\n{'#' * 40}\nreduce(one)\n", f"/nowhere/{'long' * 20}/made_{number}.py", "exec")
        exec(code, {"reduce": dist.all_reduce, "one": one})
        one.fill_(1.0)


def _gate(folder: Path, rank: int) -> None:
    """Stand here until somebody outside has done what it wants to."""
    coming = folder / f"coming_{rank}"
    coming.write_text(str(os.getpid()))
    coming.rename(folder / f"at_gate_{rank}")
    while not (folder / "go").exists():
        time.sleep(0.02)


def _come_to_the_fault(folder: Path, attempt: int, rank: int, failing: int, world: int) -> None:
    """Who fails does so when all have said what came before: how fast each of them is shall change nothing."""
    (folder / f"before_fault_{attempt}_{rank}").touch()
    if rank == failing:
        while not all((folder / f"before_fault_{attempt}_{other}").exists() for other in range(world)):
            time.sleep(0.02)
        time.sleep(SETTLE_S)


def _fail(how: str) -> None:
    if how == "raised":
        raise ValueError("a fault of the soak")
    if how == "exited":
        os._exit(3)
    if how == "hung":
        time.sleep(3600)
    os.kill(os.getpid(), signal.Signals[how])
    time.sleep(3600)


def launch(plan: dict[str, Any]) -> int:
    """As torchrun does: all ranks are started again when one fails; told to end, it ends them."""
    ranks: dict[int, int] = {}

    def end(number: int, _frame: object) -> None:
        for pid in ranks:
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            say(f"launcher: ended by signal {number}")
        os._exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    for attempt in range(plan["restarts"] + 1):
        ranks.clear()
        ranks.update(_start(plan, attempt))
        fault = plan["faults"].get(f"{attempt}")
        codes = _codes(dict(ranks), 1.0 if fault and fault["how"] == "hung" else GRACE_S)
        told = " ".join(f"{rank}:{code}" for rank, code in sorted(codes.items()))
        say(f"launcher: attempt {attempt} ended with {told}")
        if not any(codes.values()) or (attempt == plan["restarts"]):
            break
    return max(map(abs, codes.values()))


def _start(plan: dict[str, Any], attempt: int) -> dict[int, int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    ranks = {}
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    for rank in range(plan["world"]):
        pid = os.fork()
        if pid == 0:
            for number in signals:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(plan["world"]))
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
            os.environ["TORCHELASTIC_RESTART_COUNT"] = str(attempt)
            code = 1
            try:
                code = rank_main(plan)
            except Exception as error:
                say(f"attempt {attempt} rank {rank}: {type(error).__name__}: {error}")
            os._exit(code)
        ranks[pid] = rank
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    return ranks


def _codes(ranks: dict[int, int], grace: float) -> dict[int, int]:
    """By rank; whoever outlives a failure for longer than this is killed."""
    codes: dict[int, int] = {}
    failed_at = None
    while ranks:
        for pid in list(ranks):
            ended, told = os.waitpid(pid, os.WNOHANG)
            if ended:
                codes[ranks.pop(pid)] = os.waitstatus_to_exitcode(told)
                if told and failed_at is None:
                    failed_at = time.monotonic()
        if failed_at is not None and time.monotonic() > failed_at + grace:
            for pid in ranks:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    return codes


if __name__ == "__main__":
    wanted = json.loads(Path(sys.argv[1]).read_text())
    sys.exit(rank_main(wanted) if "RANK" in os.environ else launch(wanted))
