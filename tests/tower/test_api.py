"""What is sent is kept, and what is kept is told."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient
from support.capture.waiting import until
from support.places import EARLY_STOP
from support.tower.fleet import Ranks, desync
from support.tower.towers import PLAIN, tell, tower

from rankandfile.model.digest import as_json
from rankandfile.tower.app import application
from rankandfile.tower.settings import Settings
from rankandfile.tower.store.store import engine_at
from rankandfile.tower.tower import Tower

NOW = time.time()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with tower(tmp_path / "tower.db") as found:
        yield found


def test_a_job_is_listed_with_what_its_nodes_said_last(client: TestClient) -> None:
    assert client.get("/api/v1/jobs").json() == {"jobs": [], "more": False}
    now = time.time()
    job = Ranks("llama", nodes=2, began=now - 60, title="train.py")
    for node in (0, 1):
        assert tell(client, job.report(node, now)).json() == {"job": "llama", "digests": 8, "findings": 0}
    (line,) = client.get("/api/v1/jobs").json()["jobs"]
    assert (line["job"], line["title"], line["stands"]) == ("llama", "train.py", "moves")
    assert (line["nodes"], line["ranks"], line["world"], line["step"]) == (2, 16, 16, 120)
    assert (
        client.get("/api/v1/jobs?q=lam").json()["jobs"] and not client.get("/api/v1/jobs?q=_").json()["jobs"]
    )


def test_json_is_taken_as_well(client: TestClient) -> None:
    answer = client.post("/api/v1/jobs/j/digests", content=as_json(Ranks("j").report(0, NOW)))
    assert answer.status_code == 200
    assert (
        client.post("/api/v1/jobs/k/digests", content=as_json(Ranks("j").report(0, NOW))).status_code == 422
    )


def test_who_holds_up_a_job_is_seen_in_its_ranks_and_groups(client: TestClient) -> None:
    job = Ranks("stuck", nodes=2, began=NOW - 100, stops={11: 60.0}, gone=frozenset({11}))
    for node in (0, 1):
        tell(client, job.report(node, NOW))
    now = client.get("/api/v1/jobs/stuck").json()
    assert now["stands"] == "still" and now["still_s"] == pytest.approx(40, abs=1)
    assert [
        rank for rank, late in zip(now["ranks"]["rank"], now["ranks"]["late_s"], strict=True) if late > 30
    ] == [11]
    assert now["ranks"]["state"][11] == "gone"
    worst = max(now["groups"], key=lambda group: group["late_s"])
    assert (worst["late"], worst["description"], worst["waiting"]) == ("11", "data_parallel", 15)
    assert worst["path"][0] == ["train/step.py", 88, "backward"]
    (rank,) = client.get("/api/v1/jobs/stuck/ranks?ranks=11").json()
    assert rank["groups"][0]["behind"] == 1 and rank["host"] == "host001"
    assert client.get("/api/v1/jobs/stuck/groups").json() == now["groups"]


def test_findings_are_told_once_and_replaced_by_their_id(client: TestClient) -> None:
    found = desync("j", NOW - 2, NOW - 1)
    tell(client, Ranks("j").report(0, NOW, (found,)))
    over = msgspec.structs.replace(found, over=True)
    assert client.post("/api/v1/jobs/j/findings", content=msgspec.json.encode([over])).json()["findings"] == 1
    (line,) = client.get("/api/v1/jobs/j/findings").json()["findings"]
    assert msgspec.convert(line["finding"], type(found)) == over


def test_a_moment_of_the_past_is_shown_as_it_was(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Ranks("j", began=NOW - 100, stops={2: 80.0})
    for ago in (60, 40, 20, 0):
        monkeypatch.setattr(time, "time", lambda at=NOW - ago: at)
        tell(client, job.report(0, NOW - ago))
    monkeypatch.undo()
    history = client.get("/api/v1/jobs/j/history").json()
    assert [one["step"] for one in history["moments"]] == [80, 120, 160, 160]
    assert history["moments"][-1]["open_s"] == pytest.approx(20, abs=1)
    then = client.get(f"/api/v1/jobs/j?at={NOW - 39}").json()
    assert (then["step"], then["live"], then["stands"], max(then["ranks"]["late_s"])) == (
        120,
        False,
        "moves",
        0,
    )
    assert then["steps_per_s"] == pytest.approx(2.0, abs=0.01)
    assert then["calls_per_s"] == pytest.approx(20.0, abs=0.1)


def test_a_case_is_read_and_its_page_runs_nothing_of_ours(client: TestClient, tmp_path: Path) -> None:
    import shutil

    archive = Path(shutil.make_archive(str(tmp_path / "case"), "zip", EARLY_STOP / "evidence")).read_bytes()
    sent = client.post("/api/v1/jobs/j/cases?name=../../case.zip", content=archive)
    assert sent.status_code == 201 and sent.json()["name"] == "case.zip"
    case = f"/api/v1/jobs/j/cases/{sent.json()['id']}"

    def line() -> Any:
        return client.get("/api/v1/jobs/j/cases").json()["cases"][0]

    until(lambda: line()["state"] in ("read", "unreadable"), lambda: str(line()))
    assert line()["state"] == "read" and "Rank 2" in line()["told"]
    assert client.get(f"{case}/diagnosis").json()["verdicts"][0]["culprits"][0]["rank"] == 2
    assert client.get(f"{case}/archive").content == archive
    page = client.get(f"/jobs/j/cases/{sent.json()['id']}")
    assert "Rank 2" in page.text and "sandbox allow-scripts;" in page.headers["content-security-policy"]
    assert client.get(f"/jobs/other/cases/{sent.json()['id']}").status_code == 404


def test_what_is_no_archive_is_said_to_be_unreadable(client: TestClient) -> None:
    client.post("/api/v1/jobs/j/cases", content=b"PK\3\4" + b"\0" * 100)

    def line() -> Any:
        return client.get("/api/v1/jobs/j/cases").json()["cases"][0]

    until(lambda: line()["state"] == "unreadable", lambda: str(line()))
    assert line()["told"]


def test_events_tell_what_has_come(tmp_path: Path) -> None:
    import asyncio

    from rankandfile.tower.pulse import Pulse
    from rankandfile.tower.store import writes
    from rankandfile.tower.store.rows import FindingRow
    from rankandfile.tower.store.store import Store, engine_at

    async def listen() -> list[tuple[str, str]]:
        store = Store(engine_at(str(tmp_path / "one.db"), Settings()))
        # What another tower on the same store takes in.
        other = Store(engine_at(str(tmp_path / "one.db"), Settings()))
        pulse = Pulse(store, Settings())
        mine, all_of_them = pulse.join("j"), pulse.join(None)
        await pulse.begin()
        beat = asyncio.ensure_future(pulse.beat())
        for job in ("j", "k"):
            row = FindingRow(name="f", at=1.0, kind="desync", body=b"{}")
            await other.write(lambda session, job=job, row=row: writes.add_finding(session, job, row, 9))  # type: ignore[misc]
        found = [*await mine.news(30.0), *sorted(await all_of_them.news(30.0))]
        beat.cancel()
        store.close()
        other.close()
        return found

    assert asyncio.run(listen())[:2] == [("j", "finding"), ("j", "finding")]


def test_jobs_findings_and_cases_have_their_bounds(tmp_path: Path) -> None:
    with tower(
        tmp_path / "t.db", Settings(most_jobs=2, most_findings=1, most_cases=1, post_bytes=60_000)
    ) as client:
        found = [msgspec.structs.replace(desync("a", NOW, NOW), id=str(n)) for n in range(3)]
        assert tell(client, Ranks("a").report(0, NOW, tuple(found))).json()["findings"] == 1
        assert [client.post("/api/v1/jobs/a/cases", content=b"x").status_code for _ in range(2)] == [201, 409]
        assert [tell(client, Ranks(job).report(0, NOW)).status_code for job in "abc"] == [200, 200, 409]
        assert tell(client, Ranks("a", per_node=1000).report(0, NOW)).status_code == 413


def test_old_history_gets_coarser_then_goes_and_jobs_go_whole(tmp_path: Path) -> None:
    from rankandfile.tower.store import reads, retention, writes
    from rankandfile.tower.store.rows import Post
    from rankandfile.tower.store.store import engine_at
    from rankandfile.tower.view import kept

    settings = Settings(fine_s=100.0, keep_s=5000.0)
    session = engine_at(str(tmp_path / "t.db"), settings).open()
    report = Ranks("j").report(0, NOW)
    for job, began in (("j", 200), ("old", 9000)):
        writes.heard_of(session, job, "", NOW - began, 99)
        for ago in range(200):
            at = NOW - began + ago
            writes.add_post(
                session, Post(job=job, sender="n", at=at, body=kept.kept(report)), kept.told(report)
            )
            writes.heard_of(session, job, "", at, 99)
    retention.forget(session, settings, NOW)
    assert [row.job for row in reads.jobs(session, "", 9, 0)] == ["j"]
    times = sorted(float(row[0]) for row in session.run("select at from posts"))  # type: ignore[arg-type]
    assert 99 <= len([at for at in times if at >= NOW - 100]) <= 101
    assert 3 <= len([at for at in times if at < NOW - 100]) <= 6
    session.close()


def test_a_tower_ends_though_a_library_took_its_cancellation_for_a_time_limit(tmp_path: Path) -> None:
    ended = []

    async def goes_on(_: Tower) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    app = application(PLAIN, lambda: engine_at(str(tmp_path / "one.db"), PLAIN), [goes_on])
    began = time.monotonic()
    with TestClient(app):
        pass
    assert ended and time.monotonic() - began < 30
