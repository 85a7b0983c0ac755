"""Starting jobs under `raf run`, as a shell would, and programs for their ranks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.capture.waiting import LONG_S, until

#: Imports torch once and becomes two ranks, which costs half of what torchrun takes.
LAUNCHER = """
import os, runpy, socket, sys
import torch, torch.distributed
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = str(free.getsockname()[1])
torch.set_num_threads(1)
children = []
for rank in range(2):
    pid = os.fork()
    if pid == 0:
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        runpy.run_path(sys.argv[1], run_name="__main__")
        sys.stdout.flush()
        os._exit(0)
    children.append(pid)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
sys.exit(max(map(abs, codes)))
"""

_BEGIN = """
import os, sys, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
one = torch.ones(4)
for _ in range(3):
    dist.all_reduce(one)
"""

PROGRAMS = {
    "killed": """
import signal
if rank == 1:
    os.write(2, b"the last words of the rank that is killed\\n")
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(one)
""",
    "gil": """
import ctypes
if rank == 1:
    ctypes.PyDLL(None).sleep(600)
dist.all_reduce(one)
""",
    "busy": """
if rank == 1:
    while not os.path.exists("enough"):
        sum(range(1000))
dist.all_reduce(one)
""",
    "receive": """
if rank == 1:
    dist.recv(one, src=0)
dist.all_reduce(one)
""",
    "healthy": """
# In one write each: where nothing is buffered, a line and its end are two, and the other rank comes between.
os.write(1, f"rank {rank} got {sys.stdin.readline().strip() if rank == 0 else 'nothing'}\\n".encode())
os.write(2, b"to the other stream\\n")
dist.barrier()
dist.destroy_process_group()
sys.stdout.flush()
sys.stderr.flush()
os._exit(7 * rank)
""",
}


class Watched:
    """A running `raf run`."""

    def __init__(self, folder: Path, command: list[str], options: list[str], given: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.case = folder, folder / "case"
        self.rings = folder / "rings"
        env = {
            **os.environ,
            "RAF_RING_DIR": str(self.rings),
            # Else torchrun's second attempt finds addresses of the first in its store.
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
            "SSH_CONNECTION": "",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        raf = [sys.executable, "-m", "rankandfile", "run", "--out", str(self.case), *options, "--", *command]
        (folder / "stdin").write_text(given)
        with (folder / "stdin").open("rb") as stdin, self._to("out") as out, self._to("err") as err:
            self.process = subprocess.Popen(raf, stdin=stdin, stdout=out, stderr=err, cwd=folder, env=env)

    def _to(self, name: str) -> Any:
        return (self.folder / name).open("wb")

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text(errors="replace")

    @property
    def err(self) -> str:
        return (self.folder / "err").read_text(errors="replace")

    def until(self, true: Callable[[], bool]) -> None:
        """Wait for a state; an error with all that was said where it does not come."""

        def come() -> bool:
            # First whether it has ended: what it said at its very end counts.
            ended = self.process.poll() is not None
            found = true()
            assert found or not ended, self.out + self.err
            return found

        until(come, lambda: self.out + self.err)

    def wait(self) -> int:
        try:
            return self.process.wait(LONG_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(self.out + self.err) from None

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.send_signal(signal.SIGINT)
            self.process.wait(LONG_S)

    def verdict(self) -> dict[str, Any]:
        """The first verdict of the case."""
        found: dict[str, Any] = json.loads((self.case / "diagnosis.json").read_text())["verdicts"][0]
        return found


def forked(folder: Path, program: str, *options: str, given: str = "") -> Watched:
    """Two ranks of `PROGRAMS[program]`, without a launcher that does anything for them."""
    folder.mkdir(parents=True)
    (folder / "launch.py").write_text(LAUNCHER)
    (folder / "train.py").write_text(_BEGIN + PROGRAMS[program])
    return Watched(folder, [sys.executable, "launch.py", "train.py"], list(options), given)


#: An attempt that fails before the one of the program.
FAILS_FIRST = f"""
import os, runpy
attempt, rank = os.environ["TORCHELASTIC_RESTART_COUNT"], os.environ["RANK"]
print("attempt", attempt, "of rank", rank, flush=True)
if attempt == "0":
{textwrap.indent(_BEGIN, "    ")}
    if rank == 1:
        raise RuntimeError("the first attempt fails")
    dist.all_reduce(one)
runpy.run_path("train.py", run_name="__main__")
"""


def fails_first(folder: Path, *options: str) -> Watched:
    """Two ranks of `train.py` in the folder by torchrun, in its second attempt."""
    (folder / "first.py").write_text(FAILS_FIRST)
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return Watched(folder, [*run, "--max-restarts", "1", "first.py"], list(options))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
