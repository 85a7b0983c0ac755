"""Every launcher starts its ranks with the environment that `raf run` gave it; the recorder comes with that."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.capture.watched_jobs import Watched, alive

pytestmark = [pytest.mark.slow, pytest.mark.torch, pytest.mark.lab]

#: As slurmstepd does it: one process per task, with its number in the environment.
SRUN = """#!/bin/sh
for task in 0 1; do
    SLURM_PROCID=$task SLURM_LOCALID=$task SLURM_NTASKS=2 SLURM_NNODES=1 "$@" &
done
wait
"""

BEGIN = """
import os, sys, time
import torch, torch.distributed as dist

def train(rank):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + os.path.abspath("store"), rank=rank, world_size=2)
    one = torch.ones(4)
    dist.all_reduce(one)
    if rank == 1:
        time.sleep(600)
    dist.all_reduce(one)

"""
TASK = BEGIN + "train(int(os.environ.get('SLURM_PROCID') or os.environ['OMPI_COMM_WORLD_RANK']))\n"
SPAWN = BEGIN + "if __name__ == '__main__':\n    torch.multiprocessing.spawn(train, nprocs=2)\n"
COMMANDS = {
    "spawn": (SPAWN, [sys.executable, "train.py"]),
    "srun": (TASK, ["./srun", sys.executable, "train.py"]),
    "mpirun": (
        TASK,
        ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", sys.executable, "train.py"],
    ),
}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Watched]]:
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("launchers")
    started = {}
    for name, (program, command) in COMMANDS.items():
        if name == "mpirun" and shutil.which("mpirun") is None:
            continue
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(program)
        (folder / name / "srun").write_text(SRUN)
        (folder / name / "srun").chmod(0o755)
        started[name] = Watched(folder / name, command, ["--stall", "3"])
    yield started
    for job in started.values():
        job.stop()


@pytest.mark.parametrize("name", COMMANDS)
def test_ranks_of_any_launcher_are_watched_and_none_outlives_an_interrupt(
    jobs: dict[str, Watched], name: str
) -> None:
    if name not in jobs:
        pytest.skip(f"{name} is not installed")
    job = jobs[name]
    job.until(lambda: "raf: case: " in job.err)
    verdict = job.verdict()
    assert (verdict["cause"], [one["rank"] for one in verdict["culprits"]]) == ("host_blocked", [1]), job.err
    assert "train.py:11" in job.err
    below = _below(job.process.pid)
    assert len(below) >= 3
    job.process.send_signal(signal.SIGINT)
    assert job.wait() != 0
    assert not any(map(alive, below))


def _below(pid: int) -> list[int]:
    from rankandfile.capture.watch.processes import descendants

    assert pid != os.getpid()
    return descendants(pid)


def test_the_case_of_a_launcher_without_ranks(tmp_path: Path) -> None:
    """A launcher that fails before any rank: its code passes through, and there is nothing to keep, or how it ended."""
    job = Watched(tmp_path / "job", [sys.executable, "-m", "torch.distributed.run", "no_such_file.py"], [])
    assert job.wait() != 0
    kept_nothing = "nothing was recorded" in job.err or "no verdict" in job.err
    # Where the machine is slow, the launcher's rank was seen to come and to end.
    ended = "NO HANG" in job.err or "IF IT HUNG: rank 0 exited" in job.err
    assert kept_nothing or ended, job.err
