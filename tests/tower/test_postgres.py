"""Two towers on one real Postgres: what one takes in, both tell."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from support.capture.waiting import until
from support.tower.fleet import Ranks, desync
from support.tower.postgres_server import postgres_server, program
from support.tower.towers import tell, tower

pytestmark = pytest.mark.slow


@pytest.fixture
def url() -> Iterator[str]:
    pytest.importorskip("psycopg")
    with postgres_server() as found:
        yield found


@pytest.mark.parametrize(
    ("versions", "newest"),
    [(["15"], "15"), (["9.6", "15", "8.4"], "15"), (["16", "17", "old"], "17"), ([], None)],
)
def test_the_newest_of_debians_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, versions: list[str], newest: str | None
) -> None:
    """Its programs are not on the path."""
    for version in versions:
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / "initdb").touch(0o755)
    (tmp_path / "99" / "bin").mkdir(parents=True)
    (tmp_path / "99" / "bin" / "initdb").touch(0o644)  # no program
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program("initdb", tmp_path) == (newest and str(tmp_path / newest / "bin" / "initdb"))


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
