"""Two towers on one real Postgres: what one takes in, both tell."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from support.capture.waiting import until
from support.tower.fleet import Ranks, desync
from support.tower.towers import tell, tower

pytest.importorskip("psycopg")
pytestmark = pytest.mark.slow


@pytest.fixture
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    initdb, server = shutil.which("initdb"), shutil.which("postgres")
    if initdb is None or server is None:
        pytest.skip("no Postgres")
    # It refuses to run as root; and its folder must be its own.
    as_user = {"user": 65534, "group": 65534} if os.getuid() == 0 else {}
    folder = Path("/tmp") / f"raf-postgres-{os.getpid()}"
    folder.mkdir(mode=0o700)
    if as_user:
        os.chown(folder, 65534, 65534)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    made = [initdb, "-A", "trust", "-U", "raf", "-N", "-D", str(folder / "data")]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL, cwd="/", **as_user)  # type: ignore[call-overload]
    command = [server, "-D", str(folder / "data"), "-k", str(folder), "-p", str(port), "-F"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd="/", **as_user)
    try:
        until(lambda: (folder / f".s.PGSQL.{port}").exists() and _answers(port), limit_s=60)
        yield f"postgresql://raf@127.0.0.1:{port}/postgres"
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _answers(port: int) -> bool:
    import psycopg

    try:
        psycopg.connect(f"postgresql://raf@127.0.0.1:{port}/postgres", connect_timeout=2).close()
    except psycopg.Error:
        return False
    return True


def test_two_towers_on_one_postgres(url: str) -> None:
    now = time.time()
    with tower(url) as one, tower(url) as other:
        statuses: list[int] = []

        def send(client: object, node: int) -> None:
            for number in range(10):
                job = Ranks(f"job-{number % 3}", nodes=2, began=now - 50)
                found = (desync(f"n{node}-{number}\0", now, now),)
                statuses.append(tell(client, job.report(node, time.time(), found)).status_code)  # type: ignore[arg-type]

        threads = [Thread(target=send, args=(client, node)) for node, client in enumerate((one, other))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [200] * 20
        for client in (one, other):
            jobs = client.get("/api/v1/jobs").json()["jobs"]
            assert [line["ranks"] for line in jobs] == [16, 16, 16]
            assert sum(line["findings"] for line in jobs) == 20
            for path in ("", "/ranks", "/groups", "/arrivals", "/findings", "/history", "/cases"):
                assert client.get(f"/api/v1/jobs/job-0{path}").status_code == 200, path
            assert client.get("/jobs/job-0").status_code == 200 and client.get("/metrics").status_code == 200
        sent = other.post("/api/v1/jobs/job-1/cases", content=b"PK\3\4 no archive").json()
        until(
            lambda: one.get("/api/v1/jobs/job-1/cases").json()["cases"][0]["state"] == "unreadable",
            limit_s=120,
        )
        assert one.get(f"/api/v1/jobs/job-1/cases/{sent['id']}/archive").content == b"PK\3\4 no archive"
        # A link that one has made, the other knows.
        assert other.get(one.post("/api/v1/jobs/job-0/share").json()["path"]).status_code == 303
