"""`pytest --raf`: tests of several ranks, one that hangs and its healthy twin, however they start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest

from rankandfile import pytest_plugin

pytestmark = [pytest.mark.slow, pytest.mark.torch]

PYTEST = [sys.executable, "-m", "pytest", "-p", "rankandfile.pytest_plugin", "-p", "no:cacheprovider", "-rA"]

#: Ranks 0 and 2 add up once more than rank 1.
SPAWNED = """
import os, sys, time
import pytest, torch, torch.distributed as dist
import torch.multiprocessing as mp

def work(rank, rendezvous, skips):
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=3)
    one = torch.ones(4)
    dist.all_reduce(one)
    if rank != skips:
        dist.all_reduce(one)
    dist.barrier()
    dist.destroy_process_group()

def start(folder, skips):
    mp.start_processes(work, (folder / "rendezvous", skips), nprocs=3, start_method="METHOD")

def test_alone_in_this_process(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/rendezvous", rank=0, world_size=1)
    dist.all_reduce(torch.ones(4))
    dist.destroy_process_group()

def test_hangs(tmp_path):
    start(tmp_path, 1)

def test_swallows(tmp_path):
    with pytest.raises(Exception):
        start(tmp_path, 1)

def test_healthy(tmp_path):
    start(tmp_path, None)
"""

CASES = """
import torch, torch.distributed as dist
from torch.testing._internal.common_distributed import MultiProcessTestCase

class Sums(MultiProcessTestCase):
    world_size = 2

    def setUp(self):
        super().setUp()
        self._spawn_processes()

    def both(self, more):
        store = dist.FileStore(self.file_name, self.world_size)
        dist.init_process_group("gloo", store=store, rank=self.rank, world_size=self.world_size)
        one = torch.ones(2)
        dist.all_reduce(one)
        self.assertEqual(one, torch.full((2,), 2.0))
        if more and self.rank == 0:
            dist.all_reduce(one)
        dist.barrier()
        dist.destroy_process_group()

    def test_healthy(self):
        self.both(False)

    def test_hangs(self):
        self.both(True)
"""

RANKS = """
import os, time
import pytest, torch, torch.distributed as dist

@pytest.fixture(scope="session", autouse=True)
def group():
    dist.init_process_group("gloo")
    yield
    dist.destroy_process_group()

def test_healthy():
    dist.all_reduce(torch.ones(2))

@pytest.mark.skipif(os.environ.get("HANGS") != "1", reason="healthy")
def test_hangs():
    dist.all_reduce(torch.ones(2))
    if dist.get_rank() == 1:
        time.sleep(1000)
    dist.all_reduce(torch.ones(2))
"""

#: Starts two ranks as Open MPI does, and ends the others when one fails.
MPIRUN = """
import os, socket, subprocess, sys
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free.getsockname()[1]))
ranks = []
for rank in range(2):
    told = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": str(rank)}
    # As the program itself would take it from there.
    shell = "RANK=$OMPI_COMM_WORLD_RANK WORLD_SIZE=$OMPI_COMM_WORLD_SIZE exec \\"$@\\""
    ranks.append(subprocess.Popen(["sh", "-c", shell, "rank", *sys.argv[1:]], env={**os.environ, **told}))
sys.exit(max(rank.wait() for rank in ranks))
"""


def run(
    folder: Path, program: str, *before: str, options: tuple[str, ...] = (), **env: str
) -> tuple[int, str]:
    (folder / "test_ranks.py").write_text(program)
    command = [
        *before,
        *(PYTEST[1:] if before else PYTEST),
        "--raf",
        "--raf-stall",
        "2.5",
        *options,
        "test_ranks.py",
    ]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **env, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def outcomes(junit: Path) -> dict[str, str]:
    """Test -> `failure` or another word of JUnit's, empty for one that passed."""
    cases = xml.parse(junit).getroot().iter("testcase")
    return {
        case.get("name", ""): next((one.tag for one in case if one.tag != "system-out"), "") for case in cases
    }


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.lab)])
def test_ranks_that_a_test_starts(method: str, tmp_path: Path) -> None:
    """What hangs fails with the card, though the test itself swallows that its ranks were ended; others pass."""
    pytest.importorskip("torch")
    program = SPAWNED.replace("METHOD", method)
    if method == "fork":
        program = program.replace("def test_swallows", "def swallows")
    status, said = run(tmp_path, program, options=("--junitxml=junit.xml",))
    assert status == 1, said
    found = outcomes(tmp_path / "junit.xml")
    hung = {"test_hangs", "test_swallows"} & found.keys()
    assert {name for name, word in found.items() if word == "failure"} == hung, said
    assert "test_ranks.py:11" in said and "if rank != skips" in said, said
    cases = sorted(one.name for one in (tmp_path / "raf-cases").iterdir())
    assert cases == sorted(f"test_ranks.py-{name}" for name in hung)
    assert (tmp_path / "raf-cases" / cases[0] / "report.html").is_file()


@pytest.mark.lab
def test_what_an_earlier_test_made_here_is_no_rank_of_the_next(tmp_path: Path) -> None:
    """The group is destroyed or not, and the next test only waits long for a program of another kind."""
    pytest.importorskip("torch")
    program = """
import subprocess
import torch, torch.distributed as dist

def test_alone_in_this_process(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/rendezvous", rank=0, world_size=1)
    dist.all_reduce(torch.ones(4))

def test_waits():
    subprocess.run(["sleep", "30"], check=True)
"""
    assert run(tmp_path, program)[0] == 0
    assert not (tmp_path / "raf-cases").exists()


@pytest.mark.lab
def test_torchs_own_test_case(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("expecttest")
    status, said = run(tmp_path, CASES, options=("--junitxml=junit.xml",))
    assert status == 1 and outcomes(tmp_path / "junit.xml") == {
        "test_healthy": "",
        "test_hangs": "failure",
    }, said
    assert "self.rank == 0" in said and "ended. case: raf-cases" in said, said


TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


@pytest.mark.lab
@pytest.mark.parametrize("launcher", ["torchrun", "mpirun"])
@pytest.mark.parametrize("hangs", ["0", "1"])
def test_where_each_rank_is_a_pytest(launcher: str, hangs: str, tmp_path: Path) -> None:
    """The session of each ends with what passed before, and with the hang as a failure."""
    pytest.importorskip("torch")
    (tmp_path / "mpirun.py").write_text(MPIRUN)
    start = TORCHRUN if launcher == "torchrun" else (sys.executable, "mpirun.py", sys.executable)
    status, said = run(tmp_path, RANKS, *start, HANGS=hangs)
    assert (status != 0) == (hangs == "1"), said
    if hangs == "1":
        assert (
            "rank 1 got stuck before the call" in said and "1 failed, 1 passed" in said and "rank 1" in said
        ), said
        assert "what follows was not run" in said, said
        assert [one.name for one in (tmp_path / "raf-cases").iterdir()] == ["test_ranks.py-test_hangs"]
    else:
        assert "1 passed, 1 skipped" in said and not (tmp_path / "raf-cases").exists(), said


def test_it_costs_nothing_where_nobody_asks() -> None:
    """Loading it loads nothing of the package; and without the option nothing is registered."""
    code = (
        "import sys, __future__; before = set(sys.modules); import rankandfile.pytest_plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['rankandfile', 'rankandfile.pytest_plugin']"
    assert not hasattr(pytest_plugin, "pytest_runtest_protocol")


def test_where_it_cannot_record_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    done = subprocess.run(
        [*PYTEST, "--raf", "test_one.py"],
        cwd=tmp_path,
        env={**os.environ, "RAF": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "--raf does nothing: RAF=0" in done.stdout, done.stdout
