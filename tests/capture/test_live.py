"""Where every rank stands: `raf top`, and what is told of a hang to whoever is not looking."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from support.capture.waiting import LONG_S, until
from support.capture.watched_jobs import PROGRAMS, Watched, forked

from rankandfile.capture import metrics
from rankandfile.capture.case import APART_ALONE_S
from rankandfile.capture.live.standing import Place, Stands, lags
from rankandfile.capture.notify import Notices
from rankandfile.reason.waits.patience import AT_LEAST_OF_FEW_NS

pytestmark = pytest.mark.slow

RAF = [sys.executable, "-m", "rankandfile"]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """Two ranks of which one sleeps, and holds Python's lock; nobody looks why."""
    pytest.importorskip("torch")
    assert "gil" in PROGRAMS
    started = forked(tmp_path_factory.mktemp("top") / "gil", "gil", "--stall", "600")
    until(lambda: len(list(started.rings.glob("*/raf-rank?-*.ring"))) == 2, lambda: started.err)
    yield started
    started.stop()


def once(job: Watched, *options: str) -> subprocess.CompletedProcess[str]:
    command = [*RAF, "top", str(job.process.pid), "--once", *options]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_S,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "120"},
    )


@pytest.mark.torch
def test_top_once_shows_who_waits_and_who_does_not(job: Watched) -> None:
    said = ""

    def waits() -> bool:
        nonlocal said
        said = once(job, "--metrics", str(job.folder / "raf.prom")).stdout
        return bool(re.search(r"^0 +waits +train\.py:\d+ +\d+ s +in all_reduce #4", said, re.MULTILINE))

    until(waits, lambda: said, 60)
    assert re.search(r"^1 +sleeps +train\.py:\d+ +\d+ s +1\b", said, re.MULTILINE), said  # one call behind
    written = (job.folder / "raf.prom").read_text()
    assert 'raf_rank_behind{rank="1"} 1\n' in written and 'raf_ranks{state="waits"} 1\n' in written


@pytest.mark.torch
def test_top_on_a_terminal_sorts_dumps_and_ends(job: Watched, tmp_path: Path) -> None:
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.environ.update(COLUMNS="100", LINES="24", TERM="xterm")
        os.execv(RAF[0], [*RAF, "top", str(job.process.pid), "--every", "0.5"])
    screen = ""

    def shows(*words: str) -> None:
        nonlocal screen
        end = time.monotonic() + LONG_S
        while not all(word in screen for word in words):
            assert time.monotonic() < end, screen
            if select.select([fd], [], [], 0.2)[0]:
                screen += os.read(fd, 65536).decode("utf-8", "replace")

    shows("2 ranks: 1 sleeps, 1 waits", "sort (rank)")
    os.write(fd, b"s")
    shows("sort (since)")
    os.write(fd, b"d")
    shows("case: raf-case-")
    os.write(fd, b"q")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    (case,) = tmp_path.iterdir()
    culprits = json.loads((case / "diagnosis.json").read_text())["verdicts"][0]["culprits"]
    assert [one["rank"] for one in culprits] == [1]


def test_top_without_a_terminal_says_so_at_once() -> None:
    done = subprocess.run(
        [*RAF, "top"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "") and "--once" in done.stderr


def test_attach_and_top_show_ranks_that_nobody_can_number(tmp_path: Path) -> None:
    """Forked without a variable that names a rank: by their processes, each at its line."""
    (tmp_path / "launch.py").write_text(
        "import os, time\n"
        "def work():\n"
        "    time.sleep(600)\n"
        "for _ in range(2):\n"
        "    if os.fork() == 0:\n"
        "        work()\n"
        "print('ready', flush=True)\n"
        "os.wait()\n"
    )
    command = [sys.executable, "launch.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True) as launcher:
        assert launcher.stdout is not None and launcher.stdout.readline() == b"ready\n"
        done = subprocess.run(
            [*RAF, "attach", str(launcher.pid), "-o", "case"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        os.killpg(launcher.pid, 9)
    if "not installed" in done.stderr or "CAP_SYS_PTRACE" in done.stderr:
        pytest.skip("no stacks can be taken here")
    assert len(re.findall(r"^pid \d+ +sleeps +launch\.py:3 in work\(\)", done.stdout, re.MULTILINE)) == 2, (
        done.stdout
    )
    assert done.stdout.splitlines()[0].split() == ["rank", "state", "where"], "no column that says nothing"
    assert "none of which records" in done.stderr
    assert "\nnext   " in done.stdout, "and what would tell"


@pytest.mark.torch
def test_attach_to_a_job_that_nobody_watched_is_a_verdict(tmp_path: Path) -> None:
    """No recorder, no dump, no log: two looks at the stacks are far enough apart to say that nothing moves."""
    (tmp_path / "train.py").write_text(
        "import time, torch, torch.distributed as dist\n"
        "dist.init_process_group('gloo')\n"
        "print('ready\\n', end='', flush=True)\n"  # in one piece: two ranks write to one pipe
        "if dist.get_rank() == 1:\n"
        "    time.sleep(600)\n"
        "dist.all_reduce(torch.ones(1))\n"
    )
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        "train.py",
    ]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True) as job:
        try:
            assert job.stdout is not None
            assert [job.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
            done = subprocess.run(
                [*RAF, "attach", str(job.pid), "-o", "case"],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            job.terminate()  # its ranks have sessions of their own: only the launcher ends them
    if "not installed" in done.stderr or "CAP_SYS_PTRACE" in done.stderr:
        pytest.skip("no stacks can be taken here")
    assert done.returncode == 1, done
    assert "HANG: rank 1 got stuck before the call" in done.stdout and "train.py:5" in done.stdout
    assert re.search(r"^0 +waits +train\.py:6 +in all_reduce", done.stdout, re.MULTILINE), done.stdout
    assert "stands  " not in done.stdout, "the sentence has said where both are"


def test_stacks_alone_are_looked_at_as_far_apart_as_they_must_stand_still() -> None:
    assert APART_ALONE_S * 1e9 > AT_LEAST_OF_FEW_NS


def test_a_rank_is_as_far_behind_as_in_the_group_in_which_it_is_most() -> None:
    world, pair = ("default", (0, 1, 2)), ("pair", (1, 2))
    rows = [
        Stands(0, 10, "waits", place=Place("/a/train.py", 3, "Trainer.fit"), calls={world: 9}),
        Stands(1, 11, "waits", calls={world: 9, pair: 4}),
        Stands(2, 12, "runs", calls={world: 8, pair: 1}),
        Stands(3, 13, "unknown"),
    ]
    assert lags(rows) == {0: 0, 1: 0, 2: 3}
    assert str(rows[0].place) == "train.py:3 in fit()"


def test_metrics_are_written_whole_and_in_prometheus_form(tmp_path: Path) -> None:
    case = tmp_path / "case"
    case.mkdir()
    verdict = {"hang": True, "cause": 'odd "word"\n', "confidence": "supported", "culprits": [{"rank": 2}]}
    (case / "diagnosis.json").write_text(json.dumps({"verdicts": [verdict]}))
    target = tmp_path / "raf.prom"
    metrics.write(target, [*metrics.of_case(case), *metrics.of_rows([Stands(2, 1, "waits", since=3.04)])])
    lines = target.read_text().splitlines()
    form = re.compile(
        r'(# (HELP|TYPE) \w+ .+|\w+(\{\w+="([^"\\\n]|\\.)*"(,\w+="([^"\\\n]|\\.)*")*\})? [\d.]+)'
    )
    assert [line for line in lines if not form.fullmatch(line)] == []
    assert 'raf_cause{cause="odd \\"word\\"\\n",confidence="likely"} 1' in lines
    assert {
        "raf_hang 1",
        'raf_culprit{rank="2"} 1',
        'raf_rank_since_seconds{rank="2",state="waits"} 3',
    } <= set(lines)
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []
    assert metrics.of_case(None) == [metrics.Sample("raf_hang", {}, 0)]


def test_a_web_hook_gets_what_slack_takes_and_one_that_fails_is_said(tmp_path: Path) -> None:
    got: list[tuple[str, bytes]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((self.headers["Content-Type"], self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200 if self.path == "/good" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    verdict = {"cause": "host_blocked", "confidence": "supported", "sentence": "Rank 1 <sleeps> & waits."}
    (tmp_path / "diagnosis.json").write_text(json.dumps({"verdicts": [verdict]}))
    said: list[str] = []
    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        for path in ("good", "secret"):
            notices = Notices(f"{address}/{path}", said.append)
            notices.hang(tmp_path)
            notices.finish()
        server.shutdown()
    kind, body = got[0]
    assert kind == "application/json" and set(json.loads(body)) == {"text"}
    assert "host blocked (likely): Rank 1 &lt;sleeps&gt; &amp; waits." in json.loads(body)["text"]
    assert len(said) == 1 and "404" in said[0] and "secret" not in said[0]
    failing = Notices("exit 3", said.append)
    failing.hang(tmp_path)
    failing.finish()
    assert said[1:] == ["nobody was told of it: the command ended with 3"]
