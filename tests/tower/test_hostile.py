"""Digests and uploads of strangers: each gets an answer, and the tower goes on."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies
from starlette.testclient import TestClient
from support.tower.fleet import Ranks, desync
from support.tower.towers import MSGPACK, tell, tower

from rankandfile.model.digest import Digest, Group, Job, Report, Standing, packed

NOW = time.time()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with tower(tmp_path_factory.mktemp("tower") / "tower.db") as found:
        yield found


def report(**changed: Any) -> dict[str, Any]:
    return {**msgspec.to_builtins(Ranks("j", per_node=2).report(0, NOW)), **changed}


BAD = {
    "empty": b"", "no report": b"[]", "text": b"hello", "half": packed(Ranks("j").report(0, NOW))[:-50],
    "deep": b"[" * 100_000, "deep pack": b"\x91" * 100_000, "long array": b"\xdd\xff\xff\xff\xff",
    "other schema": json.dumps(report(schema="rankandfile.watch/9")).encode(),
    "no such kind": json.dumps(report(findings=[{"id": "x", "kind": "other"}])).encode(),
    "negative": json.dumps(report(digests=[{"rank": -5, "time": 1.0}])).encode(),
    "no numbers": msgspec.msgpack.encode(report(time=math.nan)),
    "endless": msgspec.msgpack.encode(report(digests=[{"rank": 0, "time": math.inf}])),
    "far away": json.dumps(report(digests=[{"rank": 0, "time": 1e300}])).encode(),
    "huge exit": json.dumps(report(ended=1 << 70)).encode(),
    "big exit": json.dumps(report(ended=1 << 40)).encode(),
    "huge step": json.dumps(report(digests=[{"rank": 0, "time": 1.0, "step": 1 << 63}])).encode(),
    "surrogate": b'{"job": {"id": "\\ud800"}, "node": "n", "time": 1.0}',
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_report_is_refused_in_a_sentence(client: TestClient, name: str) -> None:
    answer = client.post("/v1/reports", content=BAD[name], headers=MSGPACK)
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"] == "report" and len(answer.json()["told"]) < 500


def test_a_body_says_how_long_it_is_and_is_not_longer(client: TestClient) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield bytes(1 << 20)

    assert client.post("/v1/reports", content=endless()).status_code == 413
    assert (
        client.post("/v1/reports", content=b"x", headers={"Content-Length": "99999999999"}).status_code == 413
    )
    assert client.post("/v1/reports", content=b"x", headers={"Content-Encoding": "gzip"}).status_code == 415


ODD = "\0\x1b[31m\u202e</script>'\"%_;--\ufffd" + "x" * 300


def test_odd_words_come_back_as_they_are_and_pages_still_stand(client: TestClient) -> None:
    standing = Standing(ODD, 7, 9, 0, open_s=3.0, op=ODD, path=99)
    odd = Report(
        job=Job(id="odd", name=ODD), node=ODD, time=NOW, groups=(Group(id=ODD, name=ODD, size=2, members="x-y"),),
        digests=(
            Digest(rank=-1, host=ODD, time=NOW, groups=(standing, standing)),
            Digest(rank=-1, time=NOW), Digest(rank=1 << 24, time=NOW, since=NOW * 2), Digest(rank=5, time=0.0),
        ),
        findings=(msgspec.structs.replace(desync("odd", NOW, NOW), id=ODD, words=ODD, ranks="9-1,,x"),),
    )  # fmt: skip
    assert tell(client, odd).status_code == 200
    now = client.get("/api/v1/jobs/odd").json()
    assert now["ranks"]["rank"] == [5, 1 << 24, -1, -1] and now["groups"][0]["seen"] == 2
    for path in ("ranks", "groups", "arrivals", "findings", "history", "cases"):
        assert client.get(f"/api/v1/jobs/odd/{path}").status_code == 200
    assert client.get("/jobs/odd").status_code == 200 and client.get("/").status_code == 200
    assert client.get("/metrics").status_code == 200


def test_a_world_of_billions_costs_nothing(client: TestClient) -> None:
    began = time.monotonic()
    tell(
        client,
        Report(job=Job(id="big", world=1 << 53), node="n", time=NOW, digests=(Digest(rank=0, time=NOW),)),
    )
    assert client.get("/api/v1/jobs/big").status_code == 200
    assert time.monotonic() - began < 30


finite = strategies.floats(0, 1e10)
standings = strategies.builds(
    Standing,
    group=strategies.sampled_from(["a", "b", ""]),
    last=strategies.integers(0, 60),
    done=strategies.integers(0, 60),
    hash=strategies.just(0),
    open_s=strategies.none() | finite,
)
digests = strategies.builds(
    Digest,
    rank=strategies.integers(-1, 9),
    time=finite,
    step=strategies.none() | strategies.integers(0, 9),
    groups=strategies.lists(standings, max_size=3).map(tuple),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=strategies.lists(digests, max_size=8))
def test_any_digests_make_a_view(client: TestClient, found: list[Digest]) -> None:
    told = Report(job=Job(id="any"), node="n", time=NOW, digests=tuple(found))
    assert tell(client, told).status_code == 200
    now = client.get(f"/api/v1/jobs/any?at={time.time()}")
    assert now.status_code == 200
    assert all(late >= 0 for late in now.json()["ranks"]["late_s"])
    assert client.get("/api/v1/jobs/any/ranks").status_code == 200


def test_labels_are_bounded_however_many_jobs_come(client: TestClient) -> None:
    from rankandfile.tower.settings import Settings

    for number in range(Settings().most_labels + 20):
        tell(client, Ranks(f"many-{number}", per_node=1).report(0, NOW, words=False))
    lines = client.get("/metrics").text.splitlines()
    jobs = {line.split('job="')[1].split('"')[0] for line in lines if 'job="' in line}
    assert len(jobs) == Settings().most_labels
    assert not any("rank=" in line for line in lines)
    assert len(lines) < 3000
