"""`raf collect` through stand-ins for Slurm's commands and kubectl, which behave as documented."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.capture.stand_ins import Site
from support.capture.waiting import until
from support.cli.raf_runs import Raf

pytestmark = pytest.mark.slow

DUMPS = {"dumps/rank_0": "zero", "dumps/rank_1": "one", "other": "x"}


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site(tmp_path / "site", monkeypatch, ["srun", "scontrol", "sacct"])
    site.node("node01", {"dumps/rank_0": "zero", "train.out": "step 1\n"})
    site.node("node02", {"dumps/rank_1": "one"})
    site.job(output=str(site.folder / "nodes" / "node01" / "train.out"))
    (site.folder / "accounting" / "812345").write_text("812345  RUNNING  0:0\n")
    return site


@pytest.fixture
def pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site(tmp_path / "site", monkeypatch, ["kubectl"])
    site.pods({"train-0": "Running", "train-1": "Failed"}, restarts={"train-0": 1})
    site.node("train-0", {"dumps/rank_0": "zero" * 500_000})
    site.node("train-1", {"dumps/rank_1": "one"})
    (site.folder / "logs" / "train-0.previous").write_text("killed\n")
    return site


def below(folder: Path) -> dict[str, str]:
    found = (file for file in folder.rglob("*") if file.is_file() and ".raf-collect" not in file.parts)
    return {str(file.relative_to(folder)): file.read_text() for file in found}


def test_the_nodes_of_a_job_and_what_slurm_says_of_it(
    raf: Raf, slurm: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Somebody's settings, which would number the lines of the archive.
    monkeypatch.setenv("SLURM_LABELIO", "1")
    done = raf("collect", "--slurm", 812345, "-o", tmp_path / "job", "dumps/*")
    assert (done.status, done.err) == (0, "")
    assert ": 2 nodes, 5 new files" in done.out
    nodes = str(slurm.folder / "nodes").removeprefix("/")
    came = below(tmp_path / "job")
    assert came.pop("job-812345/scontrol.txt").startswith("JobId=812345")
    assert came == {
        f"node01/{nodes}/node01/dumps/rank_0": "zero",
        f"node02/{nodes}/node02/dumps/rank_1": "one",
        f"job-812345/{nodes}/node01/train.out": "step 1\n",
        "job-812345/sacct.txt": "812345  RUNNING  0:0\n",
    }


def test_a_node_that_hangs_is_ended(raf: Raf, slurm: Site, tmp_path: Path) -> None:
    slurm.node("node02", {"hangs": ""})
    done = raf("collect", "--slurm", 812345, "-o", tmp_path / "job", "--timeout", "2", "dumps/*")
    assert done.status == 3
    assert done.err == "node02: no answer in 2 s (--timeout)\n"
    assert "lacking: node02" in done.out


def test_many_that_say_the_same_are_a_line_and_a_number(raf: Raf, slurm: Site, tmp_path: Path) -> None:
    for number in range(3, 30):
        slurm.node(f"node{number:02d}", {"other": ""})
    done = raf("collect", "--slurm", 812345, "-o", tmp_path / "job", "dumps/*")
    assert done.status == 0 and ": 29 nodes," in done.out
    first, last = done.err.splitlines()
    name, _, said = first.partition(": ")
    assert said == "none of these files is there"
    assert last == f"the same as {name}: 26 more nodes"


def test_the_deadline_ends_all(raf: Raf, slurm: Site, tmp_path: Path) -> None:
    slurm.node("node00", {"hangs": ""})
    slurm.node("node02", {"hangs": ""})
    began = time.monotonic()
    done = raf(
        "collect", "--slurm", 812345, "-o", tmp_path / "job", "--deadline", "2", "--at-once", "1", "dumps/*"
    )
    assert time.monotonic() - began < 30
    assert done.status == 2
    assert (
        "node00: no answer in 2 s (--deadline)" in done.err
        and "node01: not asked: all 2 s are over" in done.err
    )


def test_where_torch_writes_its_dumps_is_known_there(
    raf: Raf, slurm: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own defaults below the home folder, and by what a rank's environment says."""
    home = slurm.node("node01", {".cache/torch/comm_lib_trace_rank_0": "new", "mine/fr_1": "by its variable"})
    monkeypatch.setenv("HOME", str(home))
    with a_rank({"TORCH_FR_DUMP_TEMP_FILE": f"{home}/mine/fr_"}):
        done = raf("collect", "--slurm", 812345, "-o", tmp_path / "job")
    assert done.status == 0
    names = {name.rpartition("/")[2] for name in below(tmp_path / "job" / "node01")}
    assert names >= {"comm_lib_trace_rank_0", "fr_1"}


class a_rank:
    """A process that a launcher would have started, and a data loader below it."""

    def __init__(self, more: dict[str, str]) -> None:
        self._environment = {**os.environ, "RANK": "3", "LOCAL_RANK": "1", "SLURM_JOB_ID": "812345", **more}

    def __enter__(self) -> None:
        sleep = (
            "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", sleep],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"1\n"

    def __exit__(self, *_: object) -> None:
        self._process.communicate(b"\n")


def test_of_ranks_that_two_jobs_have_no_stack_is_taken(raf: Raf, slurm: Site, tmp_path: Path) -> None:
    """The other's would be taken for this job's. What Slurm says is of another job does not count."""
    command = ["collect", "--slurm", "812345", "--stacks", "dumps/*"]
    slurm.install("py-spy")
    with a_rank({}), a_rank({"SLURM_JOB_ID": "7"}):
        done = raf(*command, "-o", tmp_path / "job")
        assert done.err == "" and (tmp_path / "job" / "node01" / "stacks" / "pyspy_rank_3.json").exists()
    with a_rank({}), a_rank({}):
        done = raf(*command, "-o", tmp_path / "other")
        # Of both nodes; whichever is done first is told.
        assert re.search(
            r"^node0\d: no stacks of ranks that several jobs have there: 3$", done.err, re.MULTILINE
        )
        assert not (tmp_path / "other" / "node01" / "stacks").exists()


def test_stacks_are_taken_once_of_each_rank(raf: Raf, slurm: Site, tmp_path: Path) -> None:
    command = ["collect", "--slurm", "812345", "-o", tmp_path / "job", "--stacks", "dumps/*"]
    slurm.install("py-spy")
    with a_rank({}):
        assert raf(*command).status == 0
        came = below(tmp_path / "job" / "node01")
        assert [name for name in came if name.startswith("stacks/")] == ["stacks/pyspy_rank_3.json"]
        assert '"MainThread"' in came["stacks/pyspy_rank_3.json"]
        assert "0 new files" not in (again := raf(*command)).out  # what Slurm says is asked anew
        assert again.status == 0
    assert not list(Path("/tmp").glob("raf-collect.*/stacks"))


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("812345", "job 812345 is over (TIMEOUT), and srun reaches no node of it any more; ssh may: raf collect --ssh "
                   "'node[01-02]' -o DIR"),
        ("700", "job 700 is over (CANCELLED by 1000), and srun reaches no node of it any more; ssh may: raf collect "
                "--ssh node09 -o DIR"),
        ("701", "scontrol show job 701: slurm_load_jobs error: Invalid job id specified"),
    ],
)  # fmt: skip
def test_a_job_that_is_over(raf: Raf, slurm: Site, tmp_path: Path, job: str, said: str) -> None:
    slurm.job("TIMEOUT")
    (slurm.folder / "accounting" / "700.row").write_text("CANCELLED by 1000|node09\n")
    done = raf("collect", "--slurm", job, "-o", tmp_path / "job")
    assert (done.status, done.err) == (2, f"raf: {said}\n")


def test_a_job_that_has_not_begun(raf: Raf, slurm: Site, tmp_path: Path) -> None:
    slurm.job("PENDING")
    done = raf("collect", "--slurm", "812345", "-o", tmp_path / "job")
    assert (done.status, done.err) == (
        2,
        "raf: job 812345 has not begun (PENDING): no node has anything of it\n",
    )


def test_pods_with_their_logs_and_how_they_ended(raf: Raf, pods: Site, tmp_path: Path) -> None:
    """The stand-in forgets what has not come through when a command ends: all of the file comes all the same."""
    done = raf("collect", "--kubernetes", "training/job-name=train", "-o", tmp_path / "job", "dumps/*")
    assert done.status == 3
    assert done.err == "train-1: the pod is Failed: no file of it can be had, only its log\n"
    nodes = str(pods.folder / "nodes").removeprefix("/")
    assert below(tmp_path / "job") == {
        f"train-0/{nodes}/train-0/dumps/rank_0": "zero" * 500_000,
        "train-0/train-0.log": "[pod/train-0/pytorch] 2026-05-01T10:00:00.000000000Z train-0 begins\n",
        "train-0/train-0.pytorch.previous.log": "[pod/train-0/pytorch] 2026-05-01T10:00:00.000000000Z killed\n",
        "train-0/train-0.describe.txt": "Name:         train-0\nStatus:       Running\n",
        "train-1/train-1.log": "[pod/train-1/pytorch] 2026-05-01T10:00:00.000000000Z train-1 begins\n",
        "train-1/train-1.describe.txt": "Name:         train-1\nStatus:       Failed\n",
    }


def test_a_log_that_cannot_be_had_leaves_the_files(raf: Raf, pods: Site, tmp_path: Path) -> None:
    (pods.folder / "logs" / "train-0").unlink()
    (pods.folder / "logs" / "train-0.previous").unlink()
    done = raf("collect", "--kubernetes", "training/job-name=train", "-o", tmp_path / "job", "dumps/*")
    line = next(line for line in done.err.splitlines() if line.startswith("train-0"))
    assert "is waiting to start: ContainerCreating" in line and "previous terminated container" in line
    assert any(name.endswith("rank_0") for name in below(tmp_path / "job"))


@pytest.mark.parametrize(
    ("where", "more", "said"),
    [
        ("training/job-name=other", [], "no pod has the labels job-name=other in training"),
        ("secret/job-name=train", [], "Error from server (Forbidden): pods is forbidden"),
        ("training/", [], "NAMESPACE/SELECTOR, such as training/job-name=train"),
    ],
)
def test_pods_that_cannot_be_asked(
    raf: Raf, pods: Site, tmp_path: Path, where: str, more: list[str], said: str
) -> None:
    done = raf("collect", "--kubernetes", where, "-o", tmp_path / "job", *more)
    assert done.status == 2 and said in done.err and len(done.err.splitlines()) == 1


def test_a_container_that_is_not_there(raf: Raf, pods: Site, tmp_path: Path) -> None:
    done = raf("collect", "--kubernetes", "job-name=train", "-o", tmp_path / "job", "--container", "nginx")
    assert (
        "train-0: Error from server (BadRequest): container nginx is not valid for pod train-0\n" in done.err
    )


def test_a_command_that_fails_there_is_told_in_its_own_words(raf: Raf, pods: Site, tmp_path: Path) -> None:
    """And not as `command terminated with exit code 1`."""
    (pods.folder / "bin" / "tar").write_text(
        "#!/bin/sh\n[ $1 != --help ] || exit 0\necho 'tar: memory exhausted' >&2\nexit 64\n"
    )
    (pods.folder / "bin" / "tar").chmod(0o755)
    done = raf("collect", "--kubernetes", "training/job-name=train", "-o", tmp_path / "job", "dumps/*")
    assert "train-0: tar: memory exhausted" in done.err


@pytest.fixture
def ended(slurm: Site) -> Iterator[Site]:
    slurm.node("node01", {"hangs": ""})
    slurm.node("node02", {"hangs": ""})
    yield slurm


def test_who_interrupts_it_leaves_nothing_running(ended: Site, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rankandfile", "collect", "--slurm", "812345", "-o", tmp_path / "job"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    until(lambda: len(_steps(ended)) == 3, limit_s=60)
    process.terminate()
    assert process.communicate(timeout=60)[1].decode().strip() == "raf: ended"
    until(lambda: not _steps(ended), limit_s=30)


def _steps(site: Site) -> list[str]:
    """Processes with this site's environment that sleep, as a node that hangs does."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"SITE={site.folder}".encode() in (folder / "environ").read_bytes():
                found += [folder.name] * (b"sleep" in (folder / "cmdline").read_bytes())
        except OSError:
            continue
    return found
