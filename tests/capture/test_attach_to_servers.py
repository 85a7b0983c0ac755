"""`raf attach --debug-server`: torch's own page and its worker servers, of a real job that hangs with the lock held."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.capture.waiting import LONG_S, until

from rankandfile.lab.ranks import free_port

pytestmark = pytest.mark.slow

PROGRAM = """
import ctypes, os, sys
import torch, torch.distributed as dist
from torch._C._distributed_c10d import _WorkerServer

rank = 1 if os.fork() == 0 else 0
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[1], WORLD_SIZE="2", RANK=str(rank))
torch.set_num_threads(1)
dist.init_process_group("gloo")
server = _WorkerServer(f"{sys.argv[3]}/{rank}.sock")
from torch.distributed.debug import start_debug_server
start_debug_server(port=int(sys.argv[2]))
one = torch.ones(4)
for _ in range(3):
    dist.all_reduce(one)
if rank == 1:
    ctypes.PyDLL(None).sleep(600)
dist.all_reduce(one)
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    pytest.importorskip("torch")
    for needed in ("jinja2", "tabulate", "requests"):
        pytest.importorskip(needed)
    folder = tmp_path_factory.mktemp("s")
    (folder / "train.py").write_text(PROGRAM)
    page = free_port()
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "train.py", str(free_port()), str(page), str(folder)],
            cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        until(
            lambda: process.poll() is not None or ((folder / "1.sock").exists() and _listens(page)),
            (folder / "log").read_text,
        )
        assert process.poll() is None, (folder / "log").read_text()
        time.sleep(11)  # of a job that made a handful of calls, some seconds are no hang
        yield page, folder
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def attach(out: Path, *servers: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    words = [word for server in servers for word in ("--debug-server", server)]
    raf = [sys.executable, "-m", "rankandfile", "attach", *words, "--out", str(out)]
    done = subprocess.run(raf, capture_output=True, text=True, check=False, timeout=LONG_S)
    found = out / "diagnosis.json"
    return done, json.loads(found.read_bytes())["verdicts"][0] if found.exists() else {}


@pytest.mark.torch
@pytest.mark.lab
@pytest.mark.parametrize("by", ["page", "sockets"])
def test_a_job_by_its_debug_server(job: tuple[int, Path], tmp_path: Path, by: str) -> None:
    page, folder = job
    servers = (
        [f"http://127.0.0.1:{page}"] if by == "page" else [str(folder / f"{rank}.sock") for rank in (0, 1)]
    )
    done, verdict = attach(tmp_path / "case", *servers)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 ranks answered" in done.stderr and "may be moving" not in done.stderr
    assert [one["rank"] for one in verdict["culprits"]] == [1], done.stdout
    evidence = tmp_path / "case" / "evidence"
    assert len(list((evidence / "dumps").iterdir())) == 2
    assert len(list((evidence / "stacks").iterdir())) == 2
    earlier = [tmp_path / "case" / "torch" / "dumps" / f"fr_trace_rank_{rank}.json" for rank in (0, 1)]
    now = [evidence / "dumps" / one.name for one in earlier]
    assert [one.read_bytes() for one in earlier] == [one.read_bytes() for one in now]
    assert "TCPStore" in (evidence / "wait_counters_0.txt").read_text()


def test_no_server_there(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "dead.sock"))
    done, _ = attach(tmp_path / "case", str(tmp_path / "dead.sock"), f"http://127.0.0.1:{free_port()}")
    assert done.returncode == 2 and done.stderr.count("no debug server answers there") == 2
    assert not (tmp_path / "case").exists()
