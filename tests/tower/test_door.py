"""Who may come in."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.tower.fleet import Ranks
from support.tower.towers import tell, tower

from rankandfile.tower import routes
from rankandfile.tower.door import Door, elsewhere
from rankandfile.tower.settings import Settings

TOKEN = "a-token-of-some-length"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def asked(path: str) -> str:
    return path.replace("{job}", "j").replace("{case}", "0" * 32).replace("{link}", "x")


@pytest.mark.parametrize(
    "route", [one for one in routes.ROUTES if not one.open], ids=lambda one: f"{one.method} {one.path}"
)
def test_nothing_is_told_to_who_has_no_token(tmp_path: Path, route: routes.Route) -> None:
    with tower(tmp_path / "t.db", Settings(token=TOKEN)) as client:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"X-Forwarded-User": "root"}):
            answer = client.request(route.method, asked(route.path), headers=headers)
            if route.is_api:
                assert answer.status_code == 401 and answer.json()["error"] == "token"
            else:
                assert answer.status_code == 303 and answer.headers["location"].startswith("/login?to=/")


def test_programs_send_the_token_and_people_sign_in_with_it(tmp_path: Path) -> None:
    with tower(tmp_path / "t.db", Settings(token=TOKEN)) as client:
        assert tell(client, Ranks("j").report(0, time.time()), headers=BEARER).status_code == 200
        wrong = client.post("/login", data={"token": "no"})
        assert wrong.status_code == 401 and "That is not the token" in wrong.text
        right = client.post("/login", data={"token": TOKEN, "to": "/jobs/j"})
        assert (right.status_code, right.headers["location"]) == (303, "/jobs/j")
        cookie = right.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie
        assert client.get("/jobs/j").status_code == 200
        assert client.get("/healthz").json()["ok"] is True
        elsewhere = client.post("/login", data={"token": TOKEN, "to": "//evil.example"})
        assert elsewhere.headers["location"] == "/"
        client.post("/logout")
        assert client.get("/api/v1/jobs").status_code == 401


def test_a_page_of_another_site_changes_nothing(tmp_path: Path) -> None:
    with tower(tmp_path / "t.db", Settings(token=TOKEN)) as client:
        client.post("/login", data={"token": TOKEN})
        report = Ranks("j").report(0, time.time())
        assert tell(client, report).status_code == 200
        for forged in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
            assert tell(client, report, headers=forged).status_code == 403
        assert (
            client.post("/api/v1/jobs/j/share", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 201
        )


def test_without_a_token_another_name_is_not_ours(tmp_path: Path) -> None:
    with tower(tmp_path / "t.db") as client:
        assert client.get("/api/v1/jobs", headers={"Host": "evil.example:8770"}).status_code == 421
    with tower(tmp_path / "t.db", Settings(hosts=("tower.example",))) as client:
        assert client.get("/api/v1/jobs", headers={"Host": "tower.example"}).status_code == 200


def test_a_share_link_opens_one_job_for_reading(tmp_path: Path) -> None:
    with tower(tmp_path / "t.db", Settings(token=TOKEN)) as client:
        for job in "jk":
            tell(client, Ranks(job).report(0, time.time()), headers=BEARER)
        made = client.post("/api/v1/jobs/j/share?hours=1", headers=BEARER).json()
        guest = TestClient(client.app, base_url="http://127.0.0.1", follow_redirects=False)
        opened = guest.get(made["path"])
        assert (opened.status_code, opened.headers["location"]) == (303, "/jobs/j")
        assert guest.get("/jobs/j").status_code == 200 and 'id="share"' not in guest.get("/jobs/j").text
        assert guest.get("/api/v1/jobs/j/findings").status_code == 200
        assert {
            guest.get(path).status_code for path in ("/api/v1/jobs", "/jobs/k", "/metrics", "/events", "/")
        } == {403}
        assert guest.post("/api/v1/jobs/j/findings", content=b"[]").status_code == 401
        assert guest.post("/api/v1/jobs/j/share").status_code == 401
        assert guest.get(made["path"][:-2] + "AA").status_code == 404


def test_a_link_ends_and_a_new_token_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    door = Door(Settings(token=TOKEN), "secret")
    link = door.share("j", int(time.time()) + 100)
    assert door.shared_job(link) == "j"
    assert Door(Settings(token=TOKEN + "2"), "secret").shared_job(link) is None
    assert Door(Settings(token=TOKEN), "other").shared_job(link) is None
    assert door.shared_job(door.sign_in(TOKEN) or "") is None
    later = time.time() + 200
    monkeypatch.setattr(time, "time", lambda: later)
    assert door.shared_job(link) is None


def test_a_proxy_is_believed_only_from_where_it_is(tmp_path: Path) -> None:
    settings = Settings(trust_header="X-User", trust_from=("10.0.0.9",))
    for peer, status in (("10.0.0.9", 200), ("10.0.0.8", 401)):
        with tower(tmp_path / "t.db", settings, client=(peer, 1234)) as client:
            assert client.get("/api/v1/jobs", headers={"X-User": "ada"}).status_code == status
            assert client.get("/api/v1/jobs").status_code == 401


@pytest.mark.parametrize(
    ("host", "token", "fine"),
    [("127.0.0.1", None, True), ("::1", None, True), ("0.0.0.0", None, False), ("0.0.0.0", TOKEN, True)],
)
def test_beyond_this_machine_there_must_be_a_token(host: str, token: str | None, fine: bool) -> None:
    assert (elsewhere(host, Settings(token=token)) is None) is fine


def test_pages_run_their_own_script_and_no_other(tmp_path: Path) -> None:
    with tower(tmp_path / "t.db") as client:
        hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e"
        tell(client, Ranks("j", title=hostile).report(0, time.time()))
        for path in ("/", "/jobs/j", "/login"):
            page = client.get(path)
            policy = page.headers["content-security-policy"]
            assert re.search(r"script-src 'sha256-[^']+';", policy) and "unsafe" not in policy
            assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
            assert page.text.count("</script>") == 2 and "<img" not in page.text
            assert page.headers["x-content-type-options"] == "nosniff"
