"""Towers for tests: one in this process, and one in a process of its own."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from rankandfile.model.digest import Report, packed
from rankandfile.own_python import own_python
from rankandfile.tower.app import application
from rankandfile.tower.settings import Settings
from rankandfile.tower.store.store import engine_at
from support.capture.waiting import until

PLAIN = Settings()
MSGPACK = {"Content-Type": "application/msgpack"}
HERE = "http://127.0.0.1"


@contextmanager
def tower(store: str | Path, settings: Settings = PLAIN, **client: Any) -> Iterator[TestClient]:
    app = application(settings, lambda: engine_at(str(store), settings))
    with TestClient(app, base_url=HERE, follow_redirects=False, **client) as found:
        yield found


def tell(client: TestClient, report: Report, **more: Any) -> Any:
    headers = {**MSGPACK, **more.pop("headers", {})}
    return client.post("/v1/reports", content=packed(report), headers=headers, **more)


@dataclass
class Running:
    process: subprocess.Popen[str]
    url: str

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        with urllib.request.urlopen(
            urllib.request.Request(self.url + path, headers=dict(headers or {}))
        ) as answer:
            return json.loads(answer.read())

    def post(self, path: str, body: bytes, headers: Mapping[str, str] = MSGPACK) -> int:
        """The status. Raises OSError where nobody answers."""
        request = urllib.request.Request(self.url + path, body, dict(headers))
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                answer.read()
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.read()
            return error.code


@contextmanager
def running(store: str | Path, *options: str, before: Sequence[str] = (), port: int = 0) -> Iterator[Running]:
    """`raf tower`, ready to answer. `before`: what its command is given to."""
    command = [*before, *own_python("from rankandfile.cli.main import main; main()")]
    command += ["tower", str(port), "--store", str(store), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert line.startswith("tower "), line + process.stderr.read()
        found = Running(process, line.split()[1])
        until(lambda: _answers(found))
        yield found
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stderr.close()


def _answers(one: Running) -> bool:
    try:
        return one.get("/healthz")["ok"] is True
    except urllib.error.HTTPError:
        return True
    except OSError:
        time.sleep(0.05)
        return False
