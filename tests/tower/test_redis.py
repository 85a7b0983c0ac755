"""Jobs that leave what they tell in a Redis, and towers that take it from there."""

from __future__ import annotations

import io
import logging
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from support.capture.redis_server import redis_server
from support.capture.waiting import until
from support.tower.fleet import Ranks, desync
from support.tower.towers import HERE, PLAIN, running

from rankandfile.capture.tower.handing import Handing
from rankandfile.capture.tower.posting import Posting
from rankandfile.tower.app import application
from rankandfile.tower.settings import Settings
from rankandfile.tower.store.store import engine_at

redis = pytest.importorskip("redis")

from rankandfile.capture.tower import over_redis  # noqa: E402
from rankandfile.tower import from_redis  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with redis_server() as url:
        yield url


@pytest.fixture
def url(server: str) -> str:
    redis.Redis.from_url(server).flushall()
    return server


@contextmanager
def tower(store: Path, url: str, settings: Settings = PLAIN) -> Iterator[TestClient]:
    beside = [from_redis.FromRedis(url).take_all]
    app = application(settings, lambda: engine_at(str(store), settings), beside)
    with TestClient(app, base_url=HERE, follow_redirects=False) as found:
        yield found


def jobs(client: TestClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/v1/jobs").json()["jobs"]
    return found


def left(url: str, stream: str = over_redis.REPORTS) -> int:
    return int(redis.Redis.from_url(url).xlen(stream))


def test_what_many_jobs_leave_two_towers_take_once(url: str, tmp_path: Path) -> None:
    now, said = time.time(), list[str]()
    with tower(tmp_path / "one.db", url) as one, tower(tmp_path / "other.db", url) as other:
        posts = [Posting(url, said.append) for _ in range(6)]
        for number, post in enumerate(posts):
            job = Ranks(f"job-{number}", began=now - 50)
            for nth in range(10):
                found = (desync(f"{number}-{nth}", now, now),)
                post.post(job.report(0, now + nth / 10, found))
        for post in posts:
            post.finish()
        until(lambda: left(url) == 0, limit_s=30)
        told = [line for client in (one, other) for line in jobs(client)]
        assert {line["job"] for line in told} == {f"job-{number}" for number in range(6)}
        assert sum(line["findings"] for line in told) == 60, "none twice, none lost"
    assert not said


def test_what_came_while_no_tower_was_there_is_taken_later(url: str, tmp_path: Path) -> None:
    post = Posting(url, print)
    post.post(Ranks("early").report(0, time.time()))
    post.finish()
    assert left(url) == 1
    with tower(tmp_path / "one.db", url) as client:
        until(lambda: [line["job"] for line in jobs(client)] == ["early"], limit_s=30)


def test_what_a_tower_had_taken_up_when_it_ended_another_keeps(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    post, client = Posting(url, print), redis.Redis.from_url(url)
    post.post(Ranks("taken-up").report(0, time.time()))
    post.finish()
    client.xgroup_create(over_redis.REPORTS, "towers", id="0")
    assert client.xreadgroup("towers", "one that is no more", {over_redis.REPORTS: ">"})
    monkeypatch.setattr(from_redis, "_LEFT_MS", 100)
    with tower(tmp_path / "one.db", url) as found:
        until(lambda: [line["job"] for line in jobs(found)] == ["taken-up"], limit_s=30)


def test_what_is_no_report_is_refused_and_nothing_waits_for_it(url: str, tmp_path: Path) -> None:
    client = redis.Redis.from_url(url)
    for entry in ({"report": b"\xc1"}, {"other": b""}, {"report": bytes(9 << 20)}):
        client.xadd(over_redis.REPORTS, entry)
    for case in ({"job": "../../etc", "name": "a", "archive": b"x"}, {"job": "ab12", "archive": b""}):
        client.xadd(over_redis.CASES, case)
    with tower(tmp_path / "one.db", url) as found:
        post = Posting(url, print)
        post.post(Ranks("good").report(0, time.time()))
        post.finish()
        until(lambda: left(url) + left(url, over_redis.CASES) == 0, limit_s=30)
        assert [line["job"] for line in jobs(found)] == ["good"]
        refused = found.get("/metrics").text
        assert all(
            f'raf_tower_refused_total{{why="{word}"}}' in refused for word in ("report", "large", "empty")
        )


def test_a_case_comes_that_way_too(url: str, tmp_path: Path) -> None:
    evidence = tmp_path / "case" / "evidence" / "logs"
    evidence.mkdir(parents=True)
    (evidence / "rank_0.log").write_text("late")
    with tower(tmp_path / "one.db", url) as found:
        hands = Handing(url, print)
        hands.hand(tmp_path / "case", "ab12")
        hands.finish()
        until(lambda: left(url, over_redis.CASES) == 0 and bool(_cases(found)), limit_s=30)
        (line,) = _cases(found)
        archive = found.get(f"/api/v1/jobs/ab12/cases/{line['id']}/archive").content
    assert zipfile.ZipFile(io.BytesIO(archive)).namelist() == ["evidence/logs/rank_0.log"]


def _cases(client: TestClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/v1/jobs/ab12/cases").json().get("cases", [])
    return found


def test_a_redis_that_goes_away_is_told_once_and_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(from_redis, "_PAUSE_S", 0.05)
    with (
        caplog.at_level(logging.WARNING, "rankandfile.tower"),
        tower(tmp_path / "one.db", "redis://:secret@127.0.0.1:1/0") as found,
    ):
        time.sleep(0.5)
        assert jobs(found) == []
    assert len(caplog.records) == 1 and "secret" not in caplog.text


def test_nothing_waits_for_a_redis_that_is_not_there() -> None:
    said: list[str] = []
    post = Posting("redis://:secret@127.0.0.1:1/0", said.append)
    began = time.monotonic()
    post.post(Ranks("job").report(0, time.time()))
    assert time.monotonic() - began < 1
    until(lambda: bool(said))
    threading.Thread(target=post.finish, daemon=True).start()
    assert said[0].startswith("the tower at 127.0.0.1:1/0 does not answer") or "127.0.0.1:1" in said[0]
    assert "secret" not in said[0]


def test_the_command_reads_there(url: str, tmp_path: Path) -> None:
    post = Posting(url, print)
    post.post(Ranks("by-command").report(0, time.time()))
    post.finish()
    with running(tmp_path / "one.db", "--redis", url) as one:
        until(lambda: [line["job"] for line in one.get("/api/v1/jobs")["jobs"]] == ["by-command"], limit_s=30)
