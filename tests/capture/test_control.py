"""The page's worked example, as SPMD, agreed, planned and controlled; and what a controller makes of broken actors."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from making.consoles import files
from support.capture.certificates import certificates
from support.capture.waiting import until
from support.places import DOCS

from rankandfile.lab.ranks import free_port

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
        assert "NO HANG: rank 1 was killed" in done.stderr
        assert "restarting the job: attempt 2" in done.stderr
        assert all(ENDS.format(rank) in done.stdout for rank in range(3))
        assert left(job) == []

    def test_a_hung_script_is_diagnosed_by_the_actor_beside_it(self, job: Path) -> None:
        done = run(job, "control", "run", "-n", "3", "--stall", "4", "--", "train.py", "spmd")
        assert done.returncode == 1, done.stderr
        assert "HANG: rank 1" in done.stderr and "ending the job" in done.stderr
        assert left(job) == []

    def test_all_that_ranks_write_comes_out_on_the_stream_that_it_was_written_to(self, job: Path) -> None:
        """Also what is more than one look at a rank brings, all of it written just before the end."""
        (job / "writes.py").write_text(
            "import sys\nfor n in range(40_000):\n    print('x' * 99)\n"
            "print('last line', flush=True)\nprint('an error', file=sys.stderr)\n"
        )
        done = run(job, "control", "run", "-n", "1", "--", "writes.py")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert len(lines) == 40_001 and lines[-1] == "last line"
        assert "an error" in done.stderr.splitlines()

    def test_each_ranks_lines_are_told_apart_and_kept_in_files_of_its_own(self, job: Path) -> None:
        (job / "writes.py").write_text(
            "import os, sys\nrank = os.environ['RANK']\nprint(f'begin {rank}')\nprint(f'bad {rank}', file=sys.stderr)\n"
            "sys.stdout.write(f'half of {rank}')\n"
        )
        done = run(job, "control", "run", "-n", "2", "--logs", "logs", "--", "writes.py")
        assert done.returncode == 0, done.stderr
        for rank in (0, 1):
            assert {f"[rank{rank}]: begin {rank}", f"[rank{rank}]: half of {rank}"} <= {
                *done.stdout.splitlines()
            }
            assert f"[rank{rank}]: bad {rank}" in done.stderr.splitlines()
            kept = job / "logs" / "attempt_0" / f"rank_{rank}.stdout.log"
            assert kept.read_text() == f"begin {rank}\nhalf of {rank}"
            assert kept.with_name(f"rank_{rank}.stderr.log").read_text() == f"bad {rank}\n"

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
    def test_a_controller_that_dies_leaves_nothing_running(self, job: Path, tmp_path: Path) -> None:
        (job / "sleeps.py").write_text(
            "import subprocess, time\nsubprocess.Popen(['sleep', '600'])\nopen('up', 'w').close()\ntime.sleep(600)\n"
        )
        env = {**os.environ, "TMPDIR": str(tmp_path / "own"), "RAF_RING_DIR": str(tmp_path / "own")}
        (tmp_path / "own").mkdir()
        started = subprocess.Popen([*RAF, "control", "run", "-n", "2", "--", "sleeps.py"], cwd=job, env=env)
        until((job / "up").exists)
        started.kill()
        started.wait()
        until(lambda: left(job) == [])
        until(lambda: not [*(tmp_path / "own").glob("raf-control-*"), *(tmp_path / "own").glob("run-*")])


@contextlib.contextmanager
def waiting(job: Path, *options: str) -> Iterator[list[tuple[str, subprocess.Popen[bytes]]]]:
    """Two workers on this machine, each as the one of a machine of its own."""
    started = []
    for _ in range(2):
        address = f"127.0.0.1:{free_port()}"
        env = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen([*RAF, "control", "worker", address, *options], cwd=job, env=env)
        started.append((address, process))
    try:
        for address, _ in started:
            until(lambda address=address: listens(address))  # type: ignore[misc]
        yield started
    finally:
        for _, process in started:
            process.terminate()
        for _, process in started:
            process.wait()
        until(lambda: left(job) == [])


@pytest.fixture
def workers(job: Path) -> Iterator[list[tuple[str, subprocess.Popen[bytes]]]]:
    with waiting(job) as started:
        yield started


def listens(address: str) -> bool:
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return False
    return True


@needs_monarch
class TestOnTwoHosts:
    def hosts(self, workers: list[tuple[str, subprocess.Popen[bytes]]]) -> list[str]:
        return ["--hosts", ",".join(address for address, _ in workers)]

    def test_a_healthy_job_and_another_one_on_the_same_workers(self, job: Path, workers: Any) -> None:
        (job / "says.py").write_text(
            "import os\nimport torch.distributed as dist\ndist.init_process_group('gloo')\ndist.barrier()\n"
            "print('here', *(os.environ[n] for n in ('RANK', 'LOCAL_RANK', 'GROUP_RANK', 'WORLD_SIZE')), flush=True)\n"
        )
        for _ in range(2):
            done = run(job, "control", "run", *self.hosts(workers), "-n", "2", "--", "says.py")
            assert done.returncode == 0, done.stderr
            said = sorted(line for line in done.stdout.splitlines() if ": here" in line)
            places = ["0 0 0 4", "1 1 0 4", "2 0 1 4", "3 1 1 4"]
            assert said == [f"[rank{n}]: here {place}" for n, place in enumerate(places)]
        until(lambda: len(left(job)) == 2)  # the workers alone

    def test_a_hang_is_diagnosed_from_both_hosts(self, job: Path, workers: Any) -> None:
        done = run(
            job, "control", "run", *self.hosts(workers), "-n", "2", "--stall", "4", "--", "train.py", "spmd"
        )
        assert done.returncode == 1, done.stderr
        assert "HANG: rank 1" in done.stderr and "ending the job" in done.stderr
        until(lambda: len(left(job)) == 2)

    def test_a_killed_rank_is_restarted(self, job: Path, workers: Any) -> None:
        done = run(
            job, "control", "run", *self.hosts(workers), "-n", "2", "--policy", "restart", "--", "train.py", "plan",
            "killed",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "process of rank 1 was killed by signal 9" in done.stderr
        assert all(ENDS.format(rank) in done.stdout for rank in range(4))

    @pytest.mark.lab
    @pytest.mark.parametrize("policy", ["stop", "restart"])
    def test_a_killed_worker_is_evidence_and_no_hang_of_the_tool(
        self, job: Path, workers: Any, policy: str
    ) -> None:
        (job / "waits.py").write_text(
            "import os, time\nimport torch.distributed as dist\ndist.init_process_group('gloo')\ndist.barrier()\n"
            f"if dist.get_rank() == 0:\n    os.kill({workers[1][1].pid}, 9)\ntime.sleep(1)\ndist.barrier()\n"
            "time.sleep(600)\n"
        )
        began = time.monotonic()
        done = run(
            job, "control", "run", *self.hosts(workers), "-n", "2", "--policy", policy, "--", "waits.py"
        )
        own = [
            line for line in done.stderr.splitlines() if not line.startswith("[rank")
        ]  # torch's excepthook marks theirs
        assert done.returncode != 0 and not any("Traceback" in line for line in own), done.stderr
        assert "the process of rank 2 is lost" in done.stderr and "case: " in done.stderr, done.stderr
        assert "cannot be reached" in done.stderr and "shared storage" not in done.stderr, done.stderr
        assert ("no restart: no worker answers at" in done.stderr) is (policy == "restart")
        assert time.monotonic() - began < 120
        until(lambda: len(left(job)) == 1)

    @pytest.mark.lab
    @pytest.mark.parametrize("lost", [0, 1])
    def test_a_job_goes_on_without_a_host_that_is_lost(self, job: Path, workers: Any, lost: int) -> None:
        """Also without the first one, which had the lowest ranks."""
        address, worker = workers[lost]
        (job / "goes_on.py").write_text(
            "import os, time\nimport torch.distributed as dist\ndist.init_process_group('gloo')\ndist.barrier()\n"
            "if os.environ['TORCHELASTIC_RESTART_COUNT'] == '0':\n"
            f"    if dist.get_rank() == {2 - 2 * lost}:\n        os.kill({worker.pid}, 9)\n    time.sleep(600)\n"
            "print('here', *(os.environ[n] for n in ('RANK', 'LOCAL_RANK', 'WORLD_SIZE')), flush=True)\n"
        )
        done = run(
            job, "control", "run", *self.hosts(workers), "-n", "2", "--policy", "restart-without", "--", "goes_on.py"
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert f"restarting the job without {address}, 2 ranks: attempt 2" in done.stderr
        said = sorted(line for line in done.stdout.splitlines() if ": here" in line)
        assert said == ["[rank0]: here 0 0 2", "[rank1]: here 1 1 2"]

    @pytest.mark.lab
    def test_a_controller_that_dies_leaves_nothing_running(self, job: Path, workers: Any) -> None:
        (job / "sleeps.py").write_text("import time\nopen('up', 'w').close()\ntime.sleep(600)\n")
        started = subprocess.Popen([*RAF, "control", "run", *self.hosts(workers), "--", "sleeps.py"], cwd=job)
        until((job / "up").exists)
        started.kill()
        started.wait()
        until(lambda: len(left(job)) == 2)


@needs_monarch
def test_over_tls_who_has_no_certificate_of_the_job_runs_nothing(job: Path, tmp_path: Path) -> None:
    (job / "says.py").write_text(
        "import os\nimport torch.distributed as dist\ndist.init_process_group('gloo')\ndist.barrier()\n"
        "print('here', os.environ['RANK'], *(n for n in os.environ if 'HYPERACTOR' in n), flush=True)\n"
    )
    ours, other = certificates(tmp_path / "ours"), certificates(tmp_path / "other")
    shutil.copy(
        ours / "ca.crt", other / "ca.crt"
    )  # it takes the workers for the right ones; they do not take it
    with waiting(job, "--tls", str(ours)) as workers:
        words = ["--hosts", ",".join(address for address, _ in workers), "--", "says.py"]
        refused = run(job, "control", "run", "--tls", str(other), *words)
        assert refused.returncode == 2 and "do not trust each other" in refused.stderr, refused.stderr
        host, port = workers[0][0].split(":")
        stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        stranger.load_verify_locations(ours / "ca.crt")
        with (
            socket.create_connection((host, int(port)), 5) as plain,
            stranger.wrap_socket(plain, server_hostname=host) as tls,
            pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED"),
        ):
            tls.recv(1)  # this is Monarch's own answer, and all that its promise stands on
        done = run(job, "control", "run", "--tls", str(ours), *words)
        assert done.returncode == 0, done.stderr
        said = sorted(line for line in done.stdout.splitlines() if "here" in line)
        assert said == ["[rank0]: here 0", "[rank1]: here 1"]


def test_a_worker_that_is_not_there_is_said_to_be(job: Path) -> None:
    pytest.importorskip("monarch")
    done = run(job, "control", "run", "--hosts", "127.0.0.1:1", "--", "train.py", "spmd")
    assert done.returncode == 2 and "no worker answers at 127.0.0.1:1" in done.stderr, done.stderr
    done = run(job, "control", "run", "--hosts", "node0", "--", "train.py", "spmd")
    assert done.returncode == 2 and "HOST:PORT, not 'node0'" in done.stderr, done.stderr
    for words in (["run", "--hosts", "node0:7400", "--", "train.py"], ["worker", "0.0.0.0:7400"]):
        done = run(job, "control", *words)
        assert done.returncode == 2 and "give certificates with --tls" in done.stderr, done.stderr


def test_without_monarch_it_says_what_is_missing(job: Path) -> None:
    script = (
        "import importlib.util as u, sys; real = u.find_spec;"
        "u.find_spec = lambda name, *a: None if name == 'monarch' else real(name, *a);"
        "from rankandfile.cli.main import main; sys.argv = ['raf', 'control', 'run', '--', 'train.py']; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=job, timeout=60)
    assert done.returncode == 2 and "rankandfile[monarch]" in done.stderr
