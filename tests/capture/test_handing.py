"""Cases handed to a tower."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from rankandfile.capture.tower import handing
from rankandfile.capture.tower.handing import Handing, archive


def case(folder: Path) -> Path:
    for name, data in {"logs/rank_0.log": b"late", "rings/a.ring": bytes(5000)}.items():
        path = folder / "case" / "evidence" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "case" / "diagnosis.json").write_text("{}")
    return folder / "case"


def test_evidence_goes_to_the_job_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[tuple[str, str | None, bytes]] = []

    class Tower(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["Authorization"], body))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("RAF_TOWER_TOKEN", "secret")
    said: list[str] = []
    with HTTPServer(("127.0.0.1", 0), Tower) as tower:
        threading.Thread(target=tower.serve_forever, daemon=True).start()
        hands = Handing(f"http://127.0.0.1:{tower.server_port}/", said.append)
        folder = case(tmp_path)  # once: a file that is written anew has no size for a moment
        for _ in range(3):
            hands.hand(folder, "ab12")
        hands.finish()
        tower.shutdown()
    ((place, token, body),) = got
    assert (
        place == f"/api/v1/jobs/ab12/cases?name={os.uname().nodename}-case.zip" and token == "Bearer secret"
    )
    assert zipfile.ZipFile(io.BytesIO(body)).namelist() == [
        "evidence/logs/rank_0.log",
        "evidence/rings/a.ring",
    ]
    assert not said


def test_nobody_takes_it(tmp_path: Path) -> None:
    """It is said, and that is all."""
    said: list[str] = []
    hands = Handing("http://127.0.0.1:9", said.append)
    hands.hand(case(tmp_path), "ab12")
    hands.finish()
    assert len(said) == 1 and said[0].startswith("the tower did not take the case")


def test_what_is_too_large_stays_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing, "MOST", 1500)
    large = case(tmp_path) / "evidence" / "core"
    large.write_bytes(os.urandom(20_000))
    (case(tmp_path) / "evidence" / "link").symlink_to("/etc/hostname")
    file = io.BytesIO()
    assert archive(case(tmp_path), file) == 1
    assert zipfile.ZipFile(file).namelist() == ["evidence/logs/rank_0.log", "evidence/rings/a.ring"]
