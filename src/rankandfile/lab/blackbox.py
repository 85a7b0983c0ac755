"""Inside the training processes: fork the ranks, note every call, answer requests for a dump.

Runs from `bootstrap/sitecustomize.py`, before the training script. Uses the standard library and torch only, and
never raises into the script.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import functools
import gc
import importlib
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from rankandfile.lab import calllog, linelog, virtual_hosts

_PR_SET_PDEATHSIG = 1
_POLL_S = 0.05
#: Holds the place of a variable that each rank has another value of.
UNSET = "_" * 8


def become_ranks(control_dir: str) -> None:
    """Import torch once, fork one process per rank, and return in each child as that rank.

    The parent stays here, reports how each child ended, and leaves when the last one has.
    """
    control = Path(control_dir)
    plan = json.loads((control / "plan.json").read_text())
    (control / "launcher").write_text(str(os.getpid()))
    _die_with_parent()
    import torch

    torch.set_num_threads(1)
    for module in ("torch.distributed", *plan["preload"]):
        importlib.import_module(module)
    # The garbage collector need not walk what the ranks share: leaving would take each of them seconds.
    gc.freeze()
    network = virtual_hosts.Network(plan["tcp_retries"]) if plan["virtual_hosts"] else None
    pids: dict[int, int] = {}
    for rank in range(plan["world_size"]):
        pid = os.fork()
        if pid == 0:
            if network:
                network.move_in(rank)
            _become_rank(rank, plan, control)
            return
        pids[pid] = rank
        if network:
            network.connect(rank, pid)
        (control / f"pid_{rank}").write_text(str(pid))
    failed = _report_exits(pids, control)
    # Who runs the job under another command asks for what a launcher does; the lab itself reads the ranks' own codes.
    os._exit(int(failed and plan.get("watched", False)))


def _die_with_parent() -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _report_exits(pids: dict[int, int], control: Path) -> bool:
    """Whether any has failed."""
    waiting, failed = dict(pids), False
    while waiting:
        pid, status = os.waitpid(-1, 0)
        rank = waiting.pop(pid, None)
        if rank is None:
            continue
        failed |= status != 0
        part = control / f"exit_{rank}.part"
        part.write_text(str(os.waitstatus_to_exitcode(status)))
        part.replace(control / f"exit_{rank}")
    return failed


def _become_rank(rank: int, plan: dict[str, Any], control: Path) -> None:
    os.setsid()
    _die_with_parent()
    if not plan.get("watched"):
        log = os.open(control / f"rank_{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
    os.environ.update(plan["env"])
    os.environ.update(plan["rank_env"][rank])
    _show_outside("RANK", str(rank))
    faults = (control / f"faulthandler_{rank}.txt").open("w")
    faulthandler.register(signal.SIGUSR1, file=faults, all_threads=True)
    # Under `raf run` the recorder sits where the call log would.
    calls = None if plan.get("watched") else calllog.install(control / f"calls_{rank}.raw", plan["src"])
    if plan["park_aborts"]:
        _park_aborting_threads()
    _settle_before_teardown()
    box = _Box(rank, plan, control, calls)
    atexit.register(box.at_exit)
    threading.Thread(target=box.serve, name="blackbox", daemon=True).start()
    if plan.get("traced"):
        linelog.install(control / f"lines_{rank}.raw", plan["traced"])


def _show_outside(name: str, value: str) -> None:
    """A forked process shows its parent's environment in /proc: write this variable over the one that is there."""
    before, found, _ = Path("/proc/self/environ").read_bytes().partition(f"{name}={UNSET}\0".encode())
    if found:
        # Field 50 of /proc/PID/stat, counted behind the command's name.
        begin = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[47])
        ctypes.memmove(begin + len(before) + len(name) + 1, f"{value}\0".encode(), len(value) + 1)


def _park_aborting_threads() -> None:
    """gloo ends a process that receives more than it expects, from its own thread; NCCL would hang instead.

    With `pause` as the handler of SIGABRT that thread stops for ever, and the job hangs as it would under NCCL.
    """
    libc = ctypes.CDLL(None)
    libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    libc.signal.restype = ctypes.c_void_p
    libc.signal(signal.SIGABRT, ctypes.cast(libc.pause, ctypes.c_void_p))


def _settle_before_teardown() -> None:
    """Give gloo's thread time to let go of the last call's tensors before the group is destroyed.

    Releasing them takes the GIL, and the destructor of the group joins that thread with the GIL held: about one
    healthy run in ten would hang at its end.
    """
    import torch.distributed as dist

    destroy = dist.destroy_process_group

    @functools.wraps(destroy)
    def settle_then_destroy(*args: Any, **kwargs: Any) -> None:
        time.sleep(0.1)
        destroy(*args, **kwargs)

    dist.destroy_process_group = settle_then_destroy


class _Box:
    """One rank's end of the conversation with the runner: files in the control folder."""

    def __init__(self, rank: int, plan: dict[str, Any], control: Path, calls: calllog.CallLog | None) -> None:
        self.rank = rank
        self.control = control
        self.calls = calls
        self.answers = rank not in plan["no_dump"]
        self.dump_at_exit = bool(plan["dump_at_exit"])
        self.hold_sockets = bool(plan["hold_sockets"])
        self.runner = int(plan["runner"])

    def serve(self) -> None:
        request = self.control / "request"
        while not request.exists():
            time.sleep(_POLL_S)
        self._mark("request")
        if self.answers:
            self._dump()
        (self.control / f"done_{self.rank}").touch()

    def _dump(self) -> None:
        c10d: Any = importlib.import_module("torch._C._distributed_c10d")

        for suffix, data in (
            ("pickle", c10d._dump_fr_trace(True, True, False)),
            ("json", c10d._dump_fr_trace_json(True, False)),
        ):
            part = self.control / f"dump_{self.rank}.part"
            part.write_bytes(data)
            part.replace(self.control / f"dump_{self.rank}.{suffix}")

    def _mark(self, what: str) -> None:
        if self.calls is not None:
            self.calls.mark(what)

    def at_exit(self) -> None:
        self._mark("exit")
        if self.dump_at_exit and self.answers and not (self.control / f"dump_{self.rank}.json").exists():
            self._dump()
        if self.hold_sockets and os.fork() == 0:
            # NCCL peers do not notice that a rank has left; gloo peers do, the moment its sockets close. This
            # child keeps them open until the runner ends the process group, and the rank itself leaves for real.
            _wait_for_end_of(self.runner)
            os._exit(0)


def _wait_for_end_of(pid: int) -> None:
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.5)
