"""Gather what a real incident leaves behind, from ranks that are stuck or have ended."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rankandfile.capture.gather.files import TELLING
from rankandfile.capture.gather.stacks import program as py_spy
from rankandfile.lab import virtual_hosts
from rankandfile.lab.calls import CallLog
from rankandfile.lab.ranks import Ranks
from rankandfile.lab.scenario import Evidence, Scenario
from rankandfile.lab.watchdog import watchdog_lines

_ANSWER_S = 5.0
#: Longer than a step or a batch takes: people let a minute pass.
_SECOND_LOOK_S = 6.0


def stacks(ranks: Ranks, out: Path, evidence: Evidence) -> None:
    """py-spy text, py-spy JSON with variables, faulthandler text, and the debug server's file, of each living rank."""
    out.mkdir(parents=True, exist_ok=True)
    _py_spy(ranks, out, "")
    if evidence.twice:
        time.sleep(_SECOND_LOOK_S)
        _py_spy(ranks, out, "_later")
    texts = _faulthandler(ranks)
    for rank, text in texts.items():
        (out / f"faulthandler_rank_{rank}.txt").write_text(text)
    if evidence.debug_server and texts:
        stamp = time.strftime("%Y%m%d_%H%M%S", time.gmtime())
        parts = [
            f"=== Rank {rank}: http://node-0:{40400 + rank}/handler/dump_traceback? ===\n{text}"
            for rank, text in sorted(texts.items())
        ]
        (out / f"stacks_{stamp}.txt").write_text("\n".join(parts))


def _living(ranks: Ranks) -> dict[int, int]:
    ended = ranks.exits()
    return {rank: pid for rank, pid in ranks.pids().items() if rank not in ended}


def _py_spy(ranks: Ranks, out: Path, suffix: str) -> None:
    program = py_spy()
    if program is None:
        return
    for rank, pid in _living(ranks).items():
        for option, ending in (([], "txt"), (["--json", "--locals"], "json")):
            with contextlib.suppress(subprocess.TimeoutExpired):
                done = subprocess.run(
                    [program, "dump", "--pid", str(pid), *option],
                    capture_output=True,
                    timeout=20,
                    check=False,
                )
                if done.returncode == 0:
                    (out / f"pyspy_rank_{rank}{suffix}.{ending}").write_bytes(done.stdout)


def _faulthandler(ranks: Ranks) -> dict[int, str]:
    living = _living(ranks)
    for pid in living.values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR1)
    time.sleep(0.4)
    texts = {r: (ranks.control / f"faulthandler_{r}.txt").read_text(errors="replace") for r in living}
    return {rank: text for rank, text in texts.items() if text}


def request_dumps(ranks: Ranks) -> None:
    """Ask every rank's black box for its Flight Recorder, and give up on those that cannot answer."""
    living = _living(ranks)
    (ranks.control / "request").touch()
    end = time.monotonic() + _ANSWER_S
    while time.monotonic() < end and any(
        not (ranks.control / f"done_{r}").exists() and _can_answer(pid) for r, pid in living.items()
    ):
        time.sleep(0.05)


def _can_answer(pid: int) -> bool:
    """A stopped or dead process never answers; there is no point in waiting for it."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "TZX"
    return False


def dumps(control: Path, out: Path, evidence: Evidence, world_size: int) -> dict[int, Any]:
    """Copy the dumps exactly as torch wrote them, and when; returns the decoded pickles of this run."""
    out.mkdir(parents=True, exist_ok=True)
    decoded = {}
    for rank in range(world_size):
        source = control / f"dump_{rank}.{'json' if evidence.dump_format == 'json' else 'pickle'}"
        if source.exists():
            shutil.copy2(source, out / evidence.dump_of(rank))
            decoded[rank] = pickle.loads((control / f"dump_{rank}.pickle").read_bytes())
    return decoded


def logs(control: Path, out: Path, scenario: Scenario, decoded: dict[int, Any], calls: CallLog) -> None:
    """Per-rank logs, or one log as a launcher would have merged them, with the watchdog's lines at the end."""
    out.mkdir(parents=True, exist_ok=True)
    evidence = scenario.evidence
    members = {g.name: list(g.ranks) for g in calls.groups}
    extra = watchdog_lines(decoded, members, store_reachable=not scenario.cuts) if evidence.watchdog else {}
    texts = {}
    for rank in range(scenario.world_size):
        path = control / f"rank_{rank}.log"
        text = path.read_text(errors="replace") if path.exists() else ""
        texts[rank] = text + "".join(f"{line}\n" for line in extra.get(rank, ()))
    if evidence.logs == "per_rank":
        for rank, text in texts.items():
            (out / f"rank_{rank}.log").write_text(text)
    elif evidence.logs == "tee":
        merged = [f"[default{rank}]:{line}" for rank, text in texts.items() for line in text.splitlines()]
        (out / "job.log").write_text("\n".join(merged) + "\n")


def exits(ranks: Ranks, out: Path) -> None:
    """How each rank stood at the moment of collection: still running, or ended with which code or signal."""
    codes, pids = ranks.exits(), ranks.pids()
    rows = []
    for rank in range(ranks.scenario.world_size):
        code = codes.get(rank)
        name = signal.Signals(-code).name if code is not None and code < 0 else None
        state = "running" if code is None else "exited"
        row = {"rank": rank, "pid": pids.get(rank), "state": state, "exitcode": code, "signal": name}
        if ranks.scenario.cuts:
            row["host"] = virtual_hosts.address(rank)
        rows.append(row)
    out.write_text(json.dumps(rows, indent=1) + "\n")


def environment(control: Path, out: Path) -> None:
    """The variables that matter to a diagnosis, and the versions."""
    import torch

    plan = json.loads((control / "plan.json").read_text())
    launcher = {
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "GLOO_SOCKET_IFNAME": "lo",
        "TORCH_FR_BUFFER_SIZE": "2000",
    }
    variables = launcher | plan["rank_env"][0] | plan["env"]
    lines = [f"# torch {torch.__version__}, python {sys.version.split()[0]}, backend gloo"]
    lines += [f"{k}={v}" for k, v in sorted(variables.items()) if k.startswith((*TELLING, "PYTHON"))]
    out.write_text("\n".join(lines) + "\n")
