"""The page's worked example, as SPMD, agreed, planned and controlled; and what a controller makes of broken actors."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from making.consoles import files
from support.capture.waiting import until
from support.places import DOCS

pytestmark = [pytest.mark.slow, pytest.mark.torch]
needs_monarch = pytest.mark.skipif(
    importlib.util.find_spec("monarch") is None, reason="Monarch is not installed: pip install torchmonarch"
)
RAF = [sys.executable, "-m", "rankandfile"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3"]
ENDS = "rank {} ends after epoch 5"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(files((DOCS / "control.md").read_text(encoding="utf-8"))["train.py"])
    return tmp_path


def run(job: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*RAF, *words], cwd=job, env=env, capture_output=True, text=True, timeout=280, errors="replace"
    )


def left(job: Path) -> list[str]:
    """Processes that still run in the job's folder."""
    found = []
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if cwd.readlink() == job:
                found.append(cwd.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.lab
def test_as_spmd_it_hangs_and_is_diagnosed(job: Path) -> None:
    done = run(job, "run", "--stall", "3", "--on-hang", "dump-and-kill", "--", *TORCHRUN, "train.py", "spmd")
    assert "HANG: rank 1" in done.stderr and "train.py:" in done.stderr, done.stderr


@pytest.mark.lab
@pytest.mark.parametrize("how", ["agree", "plan"])
def test_agreed_or_planned_it_ends(job: Path, how: str) -> None:
    done = run(job, "run", "--", *TORCHRUN, "train.py", how)
    assert done.returncode == 0, done.stderr
    assert all(ENDS.format(rank) in done.stdout for rank in range(3))


def test_enforced_from_outside_it_ends_at_once(job: Path) -> None:
    done = run(job, "run", "--plan", "enforce", "--stall", "60", "--", *TORCHRUN, "train.py", "spmd")
    said = done.stdout + done.stderr
    assert done.returncode not in (0, None)
    assert "rank 1: barrier from train.py:" in said and "rank 1 left the plan" in said, said


@needs_monarch
class TestWithMonarch:
    def test_a_planned_loop_survives_a_killed_rank(self, job: Path) -> None:
        done = run(
            job, "control", "run", "-n", "3", "--policy", "restart", "--", "train.py", "plan", "killed"
        )
        assert done.returncode == 0, done.stderr
        assert "process of rank 1 was killed by signal 9" in done.stderr
        assert "restarting the job: attempt 2" in done.stderr
        assert all(ENDS.format(rank) in done.stdout for rank in range(3))
        assert left(job) == []

    def test_a_hung_script_is_diagnosed_by_the_actor_beside_it(self, job: Path) -> None:
        done = run(job, "control", "run", "-n", "3", "--stall", "4", "--", "train.py", "spmd")
        assert done.returncode == 1, done.stderr
        assert "HANG: rank 1" in done.stderr and "ending the job" in done.stderr
        assert left(job) == []

    @pytest.mark.lab
    def test_an_exception_is_evidence(self, job: Path) -> None:
        (job / "raises.py").write_text(
            "import torch.distributed as dist\ndist.init_process_group('gloo')\n"
            "if dist.get_rank() == 1:\n    raise ValueError('bad batch')\ndist.barrier()\n"
        )
        done = run(job, "control", "run", "-n", "2", "--", "raises.py")
        assert done.returncode == 1
        assert "process of rank 1 exited with code 1" in done.stderr and "bad batch" in done.stderr

    @pytest.mark.lab
    @pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
    def test_a_killed_or_hung_actor_is_no_hang_of_the_tool(self, job: Path, how: signal.Signals) -> None:
        (job / "loses.py").write_text(
            "import os, time\nimport torch.distributed as dist\ndist.init_process_group('gloo')\ndist.barrier()\n"
            f"if dist.get_rank() == 1:\n    os.kill(os.getppid(), {int(how)})\n    time.sleep(600)\ndist.barrier()\n"
        )
        done = run(job, "control", "run", "-n", "2", "--stall", "5", "--", "loses.py")
        assert done.returncode != 0
        assert "rank 1" in done.stderr and "case: " in done.stderr, done.stderr
        until(lambda: left(job) == [])

    @pytest.mark.lab
    def test_a_controller_that_dies_leaves_nothing_running(self, job: Path) -> None:
        (job / "sleeps.py").write_text("import time\nopen('up', 'w').close()\ntime.sleep(600)\n")
        started = subprocess.Popen([*RAF, "control", "run", "-n", "2", "--", "sleeps.py"], cwd=job)
        until((job / "up").exists)
        started.kill()
        started.wait()
        until(lambda: left(job) == [])


def test_without_monarch_it_says_what_is_missing(job: Path) -> None:
    script = (
        "import importlib.util as u, sys; real = u.find_spec;"
        "u.find_spec = lambda name, *a: None if name == 'monarch' else real(name, *a);"
        "from rankandfile.cli.main import main; sys.argv = ['raf', 'control', 'run', '--', 'train.py']; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=job, timeout=60)
    assert done.returncode == 2 and "rankandfile[monarch]" in done.stderr
