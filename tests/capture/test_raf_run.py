"""`raf run` over real jobs, with nothing else configured. They run side by side: most of the time they wait."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.capture.watched_jobs import Watched, alive, fails_first, forked
from support.selected import asked_for

from rankandfile.lab import catalog
from rankandfile.lab.source_tree import build

pytestmark = [pytest.mark.slow, pytest.mark.torch]

#: Names of files in the folder of the job.
TELLS = ("--notify", 'cat > told.json; echo "$RAF_CASE" > told.case', "--metrics", "raf.prom")
ENDS = ("--stall", "2.5", "--on-hang", "dump-and-kill")


@pytest.fixture(scope="module")
def jobs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Watched]]:
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("run")
    build(catalog.get("two-rank-hang"), folder / "tutorial", fixed=False)
    start: dict[str, Callable[[], Watched]] = {
        "tutorial": lambda: fails_first(folder / "tutorial", *ENDS, *TELLS),
        "killed": lambda: forked(folder / "killed", "killed", *ENDS),
        "gil": lambda: forked(folder / "gil", "gil", "--stall", "2.5"),
        "busy": lambda: forked(folder / "busy", "busy", *ENDS, *TELLS[:2]),
        "receive": lambda: forked(folder / "receive", "receive", "--stall", "2.5", "--on-hang", "kill"),
        "healthy": lambda: forked(folder / "healthy", "healthy", *ENDS, given="a word\n"),
    }
    started = {name: start[name]() for name in asked_for(request, "job")}
    yield started
    for job in started.values():
        job.stop()


@pytest.fixture
def job(request: pytest.FixtureRequest, jobs: dict[str, Watched]) -> Watched:
    return jobs[request.param]


def line_of(job: Watched, text: str) -> int:
    lines = (job.folder / "train.py").read_text().splitlines()
    return max(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.lab
@pytest.mark.parametrize("job", ["gil"], indirect=True)
def test_a_rank_that_holds_the_gil_and_an_interrupt(job: Watched) -> None:
    """The job is left running after the verdict; Ctrl-C then ends all of it."""
    job.until(lambda: "raf: case: " in job.err)
    verdict = job.verdict()
    assert [culprit["rank"] for culprit in verdict["culprits"]] == [1], job.err
    assert f"train.py:{line_of(job, 'PyDLL')}" in job.err
    ranks = [row["pid"] for row in json.loads((job.case / "evidence" / "exits.json").read_text())]
    assert len(ranks) == 2 and all(map(alive, ranks))
    _attach(job, job.process.pid)
    job.process.send_signal(signal.SIGINT)
    assert job.wait() == 130, job.err
    assert not any(map(alive, ranks))


def _attach(job: Watched, pid: int) -> None:
    """The same verdict from outside, by somebody who comes later."""
    raf = [sys.executable, "-m", "rankandfile", "attach", str(pid), "--out", str(job.folder / "attached")]
    done = subprocess.run(raf, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 processes, 2 with rings" in done.stderr
    assert done.stdout.split()[:4] == ["rank", "state", "where", "since"]
    line = line_of(job, "dist.all_reduce(one)")
    assert re.search(rf"^0 +waits +train\.py:{line} .*^1 +sleeps", done.stdout, re.MULTILINE | re.DOTALL), (
        done.stdout
    )
    assert f"train.py:{line_of(job, 'PyDLL')}" in done.stdout


@pytest.mark.lab
@pytest.mark.parametrize("job", ["tutorial"], indirect=True)
def test_the_tutorial(job: Watched) -> None:
    """Rank 1 never issued call 4 of the group, and sleeps at this line."""
    assert job.wait() != 0
    verdict = job.verdict()
    assert [culprit["rank"] for culprit in verdict["culprits"]] == [1], job.err
    assert verdict["cause"] == "host_blocked", job.err
    said = " ".join(job.err.split())
    assert "HANG: rank 1 got stuck" in said
    assert f"waits in broadcast #4 train.py:{line_of(job, 'dist.broadcast')}" in said
    assert f"train.py:{line_of(job, 'time.sleep')}, the same in" in said
    assert "raf: case: " in job.err
    assert (job.case / "report.html").stat().st_size > 1000
    assert "{1}" in (job.case / "fr_trace.txt").read_text()  # the rank that is missing
    assert sorted(one.name for one in (job.case / "fr_trace").iterdir()) == ["rank_0", "rank_1"]
    evidence = job.case / "evidence"
    assert len(list((evidence / "rings").glob("*.ring"))) == 2
    assert len(list((evidence / "stacks").glob("pyspy_rank_?.json"))) == 2
    assert len(list((evidence / "stacks").glob("pyspy_rank_?_later.json"))) == 2
    assert {row["state"] for row in json.loads((evidence / "exits.json").read_text())} == {"running"}


@pytest.mark.lab
@pytest.mark.parametrize("job", ["tutorial"], indirect=True)
def test_the_attempt_that_hangs_and_not_the_one_before(job: Watched) -> None:
    """torchrun has started the job of the tutorial a second time; each rank has its log of that."""
    assert job.wait() != 0
    assert "the first attempt fails" in job.err
    evidence = job.case / "evidence"
    assert all("-attempt1-" in ring.name for ring in (evidence / "rings").glob("*.ring"))
    for rank in range(2):
        assert (
            (evidence / "logs" / f"rank_{rank}.stdout.log")
            .read_text()
            .startswith(f"attempt 1 of rank {rank}\n")
        )
    # Both ranks write to one pipe, a piece at a time: whole lines may stand within each other.
    assert job.out.count("attempt") == 4 and job.out.count("of rank") == 4, job.out
    shared = [(evidence / "logs" / name) for name in ("stdout.log", "stderr.log")]
    assert "the first attempt fails" not in "".join(log.read_text() for log in shared if log.exists())


@pytest.mark.lab
@pytest.mark.parametrize("job", ["tutorial"], indirect=True)
def test_whoever_is_to_be_told_is_told(job: Watched) -> None:
    """A command, a textfile, and at the very end where the page is."""
    assert job.wait() != 0
    told = json.loads((job.folder / "told.json").read_text())["text"]
    assert (
        told.startswith("a job hangs: host blocked (") and f"case: {os.uname().nodename}:{job.case}" in told
    )
    assert (job.folder / "told.case").read_text().strip() == str(job.case)
    metrics = (job.folder / "raf.prom").read_text()
    assert "\nraf_hang 1\n" in metrics and 'raf_cause{cause="host_blocked",confidence=' in metrics, metrics
    assert '\nraf_culprit{rank="1"} 1\n' in metrics
    assert job.err.splitlines()[-1] == f"raf: page: xdg-open {job.case}/report.html", job.err


@pytest.mark.lab
@pytest.mark.parametrize("job", ["killed"], indirect=True)
def test_a_killed_rank(job: Watched) -> None:
    assert job.wait() == 9  # by this launcher; the ranks' own codes are in the evidence
    verdict = job.verdict()
    assert (verdict["cause"], [culprit["rank"] for culprit in verdict["culprits"]]) == ("killed", [1]), (
        job.err
    )
    assert f"train.py:{line_of(job, 'dist.all_reduce(one)')}" in job.err
    log = job.case / "evidence" / "logs" / "rank_1.stderr.log"
    assert log.read_text().endswith("the last words of the rank that is killed\n")


@pytest.mark.lab
@pytest.mark.parametrize("job", ["busy"], indirect=True)
def test_a_long_evaluation_is_neither_ended_nor_told_of(job: Watched) -> None:
    job.until(lambda: "raf: slow so far, and no hang: Rank 1 " in job.err)
    (job.folder / "enough").touch()
    assert job.wait() == 0, job.err
    assert "ending the job" not in job.err and not (job.folder / "told.json").exists()


@pytest.mark.lab
@pytest.mark.parametrize("job", ["receive"], indirect=True)
def test_a_receive_without_a_send_and_the_end_at_once(job: Watched) -> None:
    """`--on-hang kill`: no stacks are taken, the rings tell enough; then nothing remains of the job."""
    assert job.wait() == 143  # the launcher's own end
    assert job.verdict()["hang"], job.err
    said = " ".join(job.err.split())
    assert "Ranks 0 and 1 wait for each other in a circle" in said
    assert (
        f"rank 1 ▸ waits for rank 0: recv of default_pg [0,1], train.py:{line_of(job, 'dist.recv')}" in said
    )
    # A receive for every rank would be one from itself.
    assert "the patch:" not in said, said
    assert "raf: ending the job" in job.err and "the verdict above stands" in job.err
    evidence = job.case / "evidence"
    assert len(list((evidence / "rings").glob("*.ring"))) == 2 and not (evidence / "stacks").exists()
    ranks = json.loads((evidence / "exits.json").read_text())
    assert [row["state"] for row in ranks] == ["running", "running"]
    assert not any(alive(row["pid"]) for row in ranks)


@pytest.mark.parametrize("job", ["healthy"], indirect=True)
def test_a_healthy_job_passes_through(job: Watched) -> None:
    assert job.wait() == 7  # of rank 1: exit codes are the program's own
    assert sorted(job.out.splitlines()) == ["rank 0 got a word", "rank 1 got nothing"]
    assert job.err.count("to the other stream") == 2
    assert "culprit" not in job.err


def test_nothing_is_left_in_shared_memory(jobs: dict[str, Watched]) -> None:
    for job in jobs.values():
        job.stop()
    left: list[Path] = [path for job in jobs.values() for path in job.rings.rglob("*")]
    assert left == []
