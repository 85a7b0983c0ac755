"""What a rank writes comes out as ever, and is kept as that rank's; what is redirected is left alone."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankandfile.capture.launch.environment import job_environment
from rankandfile.capture.launch.output import Output

#: Writes as Python, as C and by a child, and dies without a chance to flush anything.
SPEAKS = """
import ctypes, os, signal, subprocess, sys
rank = os.environ["RANK"]
sys.stdout.write(f"rank {rank} begins\\n")
sys.stdout.flush()
libc = ctypes.CDLL(None)
for number in range(2000):
    line = f"{rank} writes {number} {'x' * 50}\\n".encode()
    libc.write(1, line, len(line))
subprocess.run(["sh", "-c", f"echo a child of {rank} 1>&2"])
if rank == "0":
    raise RuntimeError("the last words of 0")
sys.stderr.write("the last words of 1\\n")
os.kill(os.getpid(), signal.SIGKILL)
"""


class Job:
    """What `raf run` makes of a job's output, without the rest of it."""

    def __init__(self, folder: Path) -> None:
        self.rings = folder / ("a long name " * 9)  # longer than a socket's address may be
        self.rings.mkdir(parents=True)
        self.output = Output(folder, self.rings)
        env = job_environment({**os.environ, "PYTHONPATH": ""}, self.rings, folder, os.getpid())
        self.env = {**env, **self.output.variables}

    def start(
        self, code: str, rank: int | None, attempt: int = 0, shell: str = "exec {}"
    ) -> subprocess.Popen[bytes]:
        """A rank, started by a shell as the launcher; without one, something that is no rank."""
        named = {"RANK": str(rank), "LOCAL_RANK": str(rank), "TORCHELASTIC_RESTART_COUNT": str(attempt)}
        out, err = self.output.ends
        command = shell.format('"$@"')
        return subprocess.Popen(
            ["sh", "-c", command, "sh", sys.executable, "-c", code],
            stdout=out,
            stderr=err,
            env=self.env | (named if rank is not None else {}),
        )

    def end(self, *started: subprocess.Popen[bytes]) -> None:
        self.output.start()
        for process in started:
            process.wait(60)
        self.output.finish(20)

    def kept(self, attempt: int = 0) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.output.logs(attempt) if path.stat().st_size}


@pytest.fixture
def job(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Job]:
    yield Job(tmp_path)


def test_each_rank_has_its_logs_up_to_its_last_words(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    ranks = [job.start(SPEAKS, rank, shell='{}; echo "a launcher speaks"') for rank in range(2)]
    job.end(*ranks)
    out, err = capfd.readouterr()
    kept = job.kept()
    for rank in range(2):
        lines = [f"{rank} writes {number} {'x' * 50}" for number in range(2000)]
        assert kept[f"rank_{rank}.stdout.log"].splitlines() == [f"rank {rank} begins", *lines]
        assert kept[f"rank_{rank}.stderr.log"].splitlines()[0] == f"a child of {rank}"
        assert kept[f"rank_{rank}.stderr.log"].rstrip().endswith(f"the last words of {rank}")
        # As it came, and no line torn by another rank's.
        assert [line for line in out.splitlines() if line.startswith(f"{rank} writes")] == lines
    assert kept["stdout.log"].splitlines() == ["a launcher speaks"] * 2
    # All of it once; by letters, for who writes a line in pieces may have others' in between.
    assert sorted("".join(kept.values())) == sorted(out + err)


def test_attempts_are_told_apart(job: Job) -> None:
    first = job.start("print('first')", 0)
    job.end(first, job.start("print('second')", 0, attempt=1))
    assert job.kept(0) == {"rank_0.stdout.log": "first\n"}
    assert job.kept(1) == {"rank_0.stdout.log": "second\n"}


def test_what_goes_elsewhere_is_left_alone(job: Job, tmp_path: Path) -> None:
    """A log of the user's own, one stream into the other, and a process that is no rank."""
    code = "import sys; print('out', flush=True); sys.stderr.write('err\\n')"
    own = job.start(code, 0, shell=f"exec {{}} > '{tmp_path}/own' 2>&1")
    both = job.start(code, 1, shell="exec {} 2>&1")
    job.end(own, both, job.start(code, None))
    assert (tmp_path / "own").read_text() == "out\nerr\n"
    assert job.kept() == {"stdout.log": "out\n", "stderr.log": "err\n", "rank_1.stdout.log": "out\nerr\n"}


def test_without_an_answer_nothing_changes(job: Job) -> None:
    (job.rings / "streams.sock").unlink()
    job.end(job.start("print('as ever')", 0))
    assert job.kept() == {"stdout.log": "as ever\n"}


def test_a_rank_on_a_terminal_keeps_one_of_the_same_size(tmp_path: Path) -> None:
    ours, its = pty.openpty()
    subprocess.run(["stty", "rows", "33", "cols", "77"], stdin=its, check=True)
    code = "import os; print(os.environ.get('RAF_STREAMS'), os.isatty(1), *os.get_terminal_size(1))"
    raf = [sys.executable, "-m", "rankandfile", "run", "--", sys.executable, "-c", code]
    process = subprocess.Popen(
        raf,
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env={**os.environ, "RANK": "0", "LOCAL_RANK": "0"},
    )
    os.close(its)
    assert process.wait(60) == 0
    # The variable is gone where a rank has got streams of its own.
    assert os.read(ours, 1000).split() == [b"None", b"True", b"77", b"33"]
    os.close(ours)
