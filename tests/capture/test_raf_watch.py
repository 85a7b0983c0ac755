"""`raf watch`: the command, against a stand-in for NCCL's RAS."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from support.capture.ras_stand_in import Comm, ras
from support.capture.waiting import until

from rankandfile.model.digest import read

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "watching"
RAF = [sys.executable, "-m", "rankandfile", "watch", "--no-unicode"]


def waiting(ranks: int = 4) -> Comm:
    """Rank 2 has launched one call less than the others."""
    return Comm(0xAB, [{"AllReduce": 512 - (rank == 2)} for rank in range(ranks)])


def once(port: int, folder: Path) -> tuple[int, str]:
    command = [*RAF, "--ras", f"127.0.0.1:{port}", "--once", "--every", "0.5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=120)
    return done.returncode, done.stderr


@pytest.mark.parametrize("version", ["2.26.2", "2.28.9"])
def test_two_looks_tell_frozen_from_advancing(tmp_path: Path, version: str) -> None:
    looks = iter(range(100))
    with ras(
        lambda: [Comm(0xAB, [{"AllReduce": 500 + next(looks) + rank} for rank in range(4)])], version
    ) as port:
        assert once(port, tmp_path)[0] == 0
    assert not list(tmp_path.iterdir())
    with ras(lambda: [waiting()], version) as port:
        code, said = once(port, tmp_path)
    assert code == 1 and "raf: nothing moves, by NCCL's RAS" in said and "rank 2 (process 4002" in said, said


def test_all_have_launched_the_same(tmp_path: Path) -> None:
    """An engine without requests, or a call that does not end: that is said, and is no finding."""
    with ras(lambda: [Comm(0xAB, [{"AllReduce": 512}] * 4)]) as port:
        code, said = once(port, tmp_path)
    assert code == 0 and "all have launched the same" in said and "RAS does not tell these apart" in said, (
        said
    )


def test_nobody_answers(tmp_path: Path) -> None:
    with ras(list) as port:
        pass
    code, said = once(port, tmp_path)
    assert code == 2 and f"nobody answers at 127.0.0.1:{port}" in said and "NCCL_RAS_ENABLE=0" in said


def test_a_finding_has_a_case_and_is_told_to_whoever_wants_it(tmp_path: Path) -> None:
    """To a command, and to a tower; both answers lie in the case, and its verdict names the rank."""
    posted: list[bytes] = []

    class Tower(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Tower) as tower, ras(lambda: [waiting()]) as port:
        threading.Thread(target=tower.serve_forever, daemon=True).start()
        command = [*RAF, "--ras", f"127.0.0.1:{port}", "--every", "0.5", "--patience", "1", "--out", "case"]
        command += ["--tower", f"http://127.0.0.1:{tower.server_port}", "--notify", "cat > told.json"]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        until(lambda: any(read(body).findings for body in posted) and (tmp_path / "told.json").exists())
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
        tower.shutdown()
    assert process.returncode == 1 and "HANG: rank 2 did not join" in said, said
    assert said.count("nothing moves, by NCCL's RAS") == 1
    assert len(list((tmp_path / "case" / "evidence").glob("ras-*.json"))) >= 2
    (found,) = json.loads((tmp_path / "case" / "watch.json").read_text())["findings"]
    assert (found["kind"], found["ranks"]) == ("frozen", "2")
    assert "rank 2" in json.loads((tmp_path / "told.json").read_text())["text"]
    last = next(report for body in posted if (report := read(body)).findings)
    assert {digest.rank: digest.calls for digest in last.digests} == {0: 512, 1: 512, 2: 511, 3: 512}


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.lab
def test_beside_the_rings_of_a_job(tmp_path: Path) -> None:
    """What rings do not show is told by RAS, where it answers, and its answers lie in the case."""
    pytest.importorskip("torch")
    odd = Comm(0xAB, [{"AllReduce": 512}, {"AllReduce": 510, "Broadcast": 1}, {"AllReduce": 512}])
    with ras(lambda: [odd]) as port:
        job = [sys.executable, str(PROGRAMS / "launch.py"), "3", str(PROGRAMS / "slow.py"), "behind", "18"]
        command = [sys.executable, "-m", "rankandfile", "run", "--no-unicode", "--out", "case", "--", *job]
        env = {**os.environ, "NCCL_RAS_ADDR": f"127.0.0.1:{port}"}
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env, timeout=120
        )
    assert done.returncode == 0 and done.stderr.count("raf: ranks disagree, by NCCL's RAS") == 1, done.stderr
    assert (
        "rank 1 (process 4001 on 10.0.0.1, GPU 1) has launched 510 AllReduce and 1 Broadcast" in done.stderr
    )
    (found,) = json.loads((tmp_path / "case" / "watch.json").read_text())["findings"]
    assert (found["kind"], found["ranks"]) == ("desync", "1")
    assert list((tmp_path / "case" / "evidence").glob("ras-*.json"))
