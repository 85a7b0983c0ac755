"""Reports to a tower: whatever becomes of it, the job and its watcher do not wait."""

from __future__ import annotations

import contextlib
import http.client
import os
import queue
import threading
import time
import urllib.parse
from collections.abc import Callable

import msgspec

from rankandfile.model.digest import Finding, Report, packed

#: Reports that wait to be sent: beyond them the oldest is let go. How long an answer may take, how long it pauses
#: after a failure, and how long the end waits for what is left.
WAITING, ANSWER_S, PAUSE_S, END_S = 30, 5.0, 5.0, 3.0
PLACE = "/v1/reports"

Say = Callable[[str], None]


class Posting:
    """In a thread of its own. The first failure is told, and no other before it has worked again."""

    def __init__(self, url: str, say: Say) -> None:
        self._url = urllib.parse.urlsplit(url if "//" in url else f"http://{url}")
        self._say = say
        self._waiting: queue.Queue[Report | None] = queue.Queue(WAITING)
        self._findings: list[Finding] = []
        self._failed = False
        self._over = threading.Event()
        self._connection: http.client.HTTPConnection | None = None
        self._thread = threading.Thread(target=self._run, name="raf-tower", daemon=True)
        self._thread.start()

    def post(self, report: Report) -> None:
        """Never waits."""
        while True:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(report)
                return
            with contextlib.suppress(queue.Empty):
                old = self._waiting.get_nowait()
                # Findings are told once: they go with a later report.
                self._findings.extend(old.findings if old is not None else ())

    def finish(self) -> None:
        """Waits a little for the last ones."""
        self._over.set()
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        self._thread.join(END_S)

    def _run(self) -> None:
        while (report := self._waiting.get()) is not None:
            if not self._deliver(report) and self._over.is_set():
                return
            if self._over.is_set() and self._waiting.empty():
                return

    def _deliver(self, report: Report) -> bool:
        findings, self._findings = self._findings, []
        report = msgspec.structs.replace(report, findings=(*findings, *report.findings))
        try:
            self._send(packed(report))
        except (OSError, ValueError, http.client.HTTPException) as error:
            self._close()
            self._findings = [*report.findings, *self._findings]
            if not self._failed:
                self._failed = True
                why = getattr(error, "strerror", None) or str(error) or type(error).__name__
                self._say(f"the tower at {self._url.netloc.rpartition('@')[2]} does not answer: {why}")
            self._over.wait(PAUSE_S)
            return False
        if self._failed:
            self._failed = False
            self._say("the tower answers again")
        return True

    def _send(self, body: bytes) -> None:
        """Raises OSError, ValueError or HTTPException."""
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(self._url.hostname or "", self._url.port, timeout=ANSWER_S)
        headers = {"Content-Type": "application/msgpack"}
        if token := os.environ.get("RAF_TOWER_TOKEN"):
            headers["Authorization"] = f"Bearer {token}"
        began = time.monotonic()
        self._connection.request("POST", self._url.path.rstrip("/") + PLACE, body, headers)
        answer = self._connection.getresponse()
        answer.read(1 << 16)
        if not 200 <= answer.status < 300:
            raise ValueError(f"{answer.status} {answer.reason}")
        if time.monotonic() - began > ANSWER_S:
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
