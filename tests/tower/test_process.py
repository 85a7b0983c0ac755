"""A tower in a process of its own: killed, full, slow to be read, and watched through a browser."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.capture.waiting import until
from support.capture.watched_jobs import Watched
from support.places import ROOT
from support.report.browser import watched_at
from support.tower.fleet import Ranks, desync
from support.tower.towers import running

from rankandfile.model.digest import packed

pytestmark = pytest.mark.slow
JSON = {"Content-Type": "application/json"}


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    store = tmp_path / "tower.db"
    now = time.time()
    with running(store) as first:
        for number in range(60):
            job = Ranks(f"job-{number % 7}", per_node=2, began=now - 100)
            assert (
                first.post(
                    "/v1/reports", packed(job.report(number % 3, now, (desync(f"d{number}", now, now),)))
                )
                == 200
            )
        assert first.post("/api/v1/jobs/job-0/cases?name=a.zip", b"PK\3\4 no archive") == 201
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
    with running(store) as second:
        jobs = second.get("/api/v1/jobs")["jobs"]
        assert len(jobs) == 7 and sum(one["findings"] for one in jobs) == 60
        told = [second.get(f"/api/v1/jobs/job-{number}/history?points=1000") for number in range(7)]
        assert all(one["moments"] for one in told)
        assert second.get("/api/v1/jobs/job-0")["ranks"]["rank"] == list(range(6))

        def state() -> Any:
            return second.get("/api/v1/jobs/job-0/cases")["cases"][0]["state"]

        # It was waiting, or being read, when the tower was killed.
        until(lambda: state() == "unreadable", state)


def test_a_full_disk_is_an_answer_and_no_end(tmp_path: Path) -> None:
    """A file may grow no further, as on a full disk or beyond a quota: what is there is still told."""
    limited = ("/bin/sh", "-c", 'ulimit -f 1024; exec "$@"', "sh")
    now = time.time()
    with running(tmp_path / "tower.db", before=limited) as tower:
        assert tower.post("/v1/reports", packed(Ranks("j").report(0, now))) == 200
        statuses = []
        while 507 not in statuses and len(statuses) < 300:
            statuses.append(tower.post("/api/v1/jobs/j/cases", os.urandom(200_000)))
        assert statuses[-1] == 507 and set(statuses) <= {201, 409, 507}
        assert tower.get("/healthz")["ok"] and tower.get("/api/v1/jobs")["jobs"][0]["ranks"] == 8
        kept = len(tower.get("/api/v1/jobs/j/cases")["cases"])
        assert kept == statuses.count(201)
        assert tower.process.poll() is None


def test_slow_and_vanished_readers_hold_nobody_up(tmp_path: Path) -> None:
    with running(tmp_path / "tower.db") as tower:
        port = int(tower.url.rpartition(":")[2])
        streams = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
        for stream in streams:
            stream.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        # Half a request, and no more of it.
        slow = socket.create_connection(("127.0.0.1", port))
        slow.sendall(b"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\nhalf")

        def listeners() -> float:
            import urllib.request

            text = urllib.request.urlopen(f"{tower.url}/metrics").read().decode()
            return float(
                next(line for line in text.splitlines() if line.startswith("raf_tower_listeners ")).split()[1]
            )

        until(lambda: listeners() == 40)
        for stream in streams[:39]:
            stream.close()
        until(lambda: listeners() == 1)
        job = Ranks("j", began=time.time() - 9)
        assert tower.post("/v1/reports", packed(job.report(0, time.time()))) == 200
        streams[39].settimeout(60)
        heard = b""
        while b"event: digests" not in heard:
            came = streams[39].recv(4096)
            assert came, heard
            heard += came
        for stream in (streams[39], slow):
            stream.close()


def test_a_finding_appears_on_the_page_that_is_open(tmp_path: Path, browser: Any) -> None:
    now = time.time()
    job = Ranks("train", nodes=4, began=now - 100, stops={3: 90.0})
    with running(tmp_path / "tower.db") as tower:
        for node in range(job.nodes):
            tower.post("/v1/reports", packed(job.report(node, now)))
        with watched_at(browser, f"{tower.url}/jobs/train") as seen:
            page = seen.page
            assert "told of no finding" in page.inner_text("#findings")
            assert "rank 3" in page.inner_text("#worst")
            page.keyboard.press("w")
            page.wait_for_selector("#rank:not([hidden])")
            assert "Rank 3" in page.inner_text("#rank") and "host000" in page.inner_text("#rank")
            tower.post("/v1/reports", packed(job.report(0, time.time(), (desync("train", now - 10, now),))))
            page.wait_for_selector(".finding", timeout=60_000)
            assert "rank 3 saves a checkpoint" in page.inner_text("#findings")
            assert "checkpoint.py:57" in page.inner_text("#findings")
            # Back in the history, and to now.
            page.keyboard.press("[")
            page.wait_for_selector("#when:not([hidden])")
            page.keyboard.press("n")
            page.wait_for_selector("#when", state="hidden")
            assert seen.complaints == []
            assert all(one.startswith((tower.url, "data:")) for one in seen.requests)
        with watched_at(browser, tower.url) as seen:
            page = seen.page
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            page.wait_for_url("**/jobs/train")
            assert seen.complaints == []


@pytest.mark.lab
@pytest.mark.torch
def test_a_real_job_that_hangs_is_told_of_on_the_page_that_is_open(tmp_path: Path, browser: Any) -> None:
    """From the ring of a rank that calls something else to the line on the page, with nothing made up between."""
    pytest.importorskip("torch")
    programs = ROOT / "benchmarks" / "watching"
    launch = [sys.executable, str(programs / "launch.py"), "3", str(programs / "wrong.py"), "barrier", "0"]
    with running(tmp_path / "tower.db") as tower:
        train = Watched(tmp_path / "at", launch, ["--no-unicode", "--tower", tower.url])
        try:
            train.until(lambda: tower.get("/api/v1/jobs")["jobs"])
            (known,) = tower.get("/api/v1/jobs")["jobs"]
            with watched_at(browser, f"{tower.url}/jobs/{known['job']}") as seen:
                seen.page.wait_for_selector(".finding", timeout=120_000)
                told = seen.page.inner_text("#findings")
                assert "rank 1 calls barrier at wrong.py:" in told, told
                assert "ranks 0,2 call all_reduce" in told, told
                assert seen.complaints == []
        finally:
            train.stop()

        def ended() -> bool:
            return bool(tower.get("/api/v1/jobs")["jobs"][0]["stands"] == "ended")

        until(ended, lambda: str(tower.get("/api/v1/jobs")))


def test_the_first_paint_of_a_thousand_ranks_needs_no_second_answer(tmp_path: Path, browser: Any) -> None:
    """What is painted first is in the page. How long that takes is not measured."""
    now = time.time()
    job = Ranks("big", nodes=128, began=now - 100, late={77: 0.5})
    with running(tmp_path / "tower.db") as tower:
        for node in range(job.nodes):
            tower.post("/v1/reports", packed(job.report(node, now)))
        with watched_at(browser, f"{tower.url}/jobs/big") as seen:
            assert "1,024" in seen.page.inner_text("#numbers")
            cells = seen.page.evaluate(
                "(() => { const c = document.getElementById('heat'); const d = c.getContext('2d')"
                ".getImageData(0, 0, c.width, c.height).data; const s = new Set();"
                " for (let i = 0; i < d.length; i += 4) s.add(d[i] * 65536 + d[i + 1] * 256 + d[i + 2]);"
                " return s.size; })()"
            )
            assert cells > 2, "late ranks have a colour of their own"
