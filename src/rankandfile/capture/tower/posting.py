"""Reports to a tower: whatever becomes of it, the job and its watcher do not wait."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable

import msgspec

from rankandfile.model.digest import Finding, Report, packed

from .way import way_to

#: Reports that wait to be sent: beyond them the oldest is let go. How long it pauses after a failure, and how long the
#: end waits for what is left.
WAITING, PAUSE_S, END_S = 30, 5.0, 3.0

Say = Callable[[str], None]


class Posting:
    """In a thread of its own. The first failure is told, and no other before it has worked again."""

    def __init__(self, url: str, say: Say) -> None:
        self._way = way_to(url)
        self._say = say
        self._waiting: queue.Queue[Report | None] = queue.Queue(WAITING)
        self._findings: list[Finding] = []
        self._failed = False
        self._over = threading.Event()
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
            self._way.post(packed(report))
        except (OSError, ValueError) as error:
            self._way.close()
            self._findings = [*report.findings, *self._findings]
            if not self._failed:
                self._failed = True
                why = getattr(error, "strerror", None) or str(error) or type(error).__name__
                self._say(f"the tower at {self._way.where} does not answer: {why}")
            self._over.wait(PAUSE_S)
            return False
        if self._failed:
            self._failed = False
            self._say("the tower answers again")
        return True
