"""Reports to a tower: whatever becomes of it, the job and its watcher do not wait."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable

import msgspec

from rankandfile.model.digest import Finding, Report, fitted, packed

from .way import Refused, way_to

#: Reports that wait to be sent: beyond them the oldest is let go. How long it pauses after a failure, and how long the
#: end waits for what is left.
WAITING, PAUSE_S, END_S = 30, 5.0, 3.0

Say = Callable[[str], None]


class Posting:
    """In a thread of its own. The first failure is told, and no other before it has worked again; that a report is
    refused for what is in it, once."""

    def __init__(self, url: str, say: Say) -> None:
        self._way = way_to(url)
        self._say = say
        self._waiting: queue.Queue[Report | None] = queue.Queue(WAITING)
        self._findings: list[Finding] = []
        self._failed = self._refused = False
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
        report = _fitted(msgspec.structs.replace(report, findings=(*findings, *report.findings)))
        try:
            self._way.post(packed(report))
        except Refused as error:
            return self._not_taken(report, error)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            return self._later(report, f"does not answer: {why}")
        if self._failed:
            self._failed = False
            self._say("the tower answers again")
        return True

    def _not_taken(self, report: Report, error: Refused) -> bool:
        """What is refused for good does not hold up what comes after it."""
        if not error.for_good:
            return self._later(report, f"refuses reports: {error}")
        if not self._refused:
            self._refused = True
            lost = len(report.findings)
            told = f", and with it {lost} finding{'s' * (lost > 1)}" if lost else ""
            self._say(f"the tower at {self._way.where} refuses a report{told}: {error}")
        return True

    def _later(self, report: Report, told: str) -> bool:
        self._way.close()
        self._findings = [*report.findings, *self._findings]
        if not self._failed:
            self._failed = True
            self._say(f"the tower at {self._way.where} {told}")
        self._over.wait(PAUSE_S)
        return False


def _fitted(report: Report) -> Report:
    """What is told seldom, and comes from programs: names, paths, lists of ranks."""
    return msgspec.structs.replace(
        report, findings=tuple(map(fitted, report.findings)), groups=tuple(map(fitted, report.groups)),
        paths=tuple(map(fitted, report.paths)),
    )  # fmt: skip
