"""`raf run`: a job under watch. What is in here may fail in any way but one: the job runs as it would without it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankandfile.capture import metrics
from rankandfile.capture.case import Case, Wishes, page
from rankandfile.capture.launch.environment import (
    cannot_inject,
    folder_for_rings,
    job_environment,
    work_folder,
)
from rankandfile.capture.launch.job import Job
from rankandfile.capture.launch.output import Output
from rankandfile.capture.live.rows import rows
from rankandfile.capture.meet.nodes import Nodes
from rankandfile.capture.meet.where_to_meet import Meeting, place
from rankandfile.capture.response import Response
from rankandfile.capture.sentinel.duty import Duty, DutyWishes
from rankandfile.capture.watch import processes
from rankandfile.capture.watch.kernel import Kernel
from rankandfile.capture.watch.rings import look
from rankandfile.capture.watch.roster import Roster
from rankandfile.capture.watch.stall import Stall
from rankandfile.model.digest import Finding

POLL_S, METRICS_S = 0.2, 5.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    command: Sequence[str]
    wishes: Wishes
    blocked_before: set[signal.Signals]
    """What `signals.held_back` returned, which was called before anything else was loaded."""
    stall: float | None = None
    on_hang: str = "report"
    """`report`, `dump-and-kill` or `kill`."""
    meet: Meeting = "store"
    """Where the watchers of the job's nodes meet: a folder, the job's own `store`, or None for nowhere."""
    watch: str = "observe"
    """`off`, `observe` or `enforce`: whether ranks are compared while the job runs, and whether that may end it."""
    on_desync: str = "report"
    """`report` or `abort`."""
    told: Callable[[str, Path], None] | None = None
    """Gets the words and the case where ranks parted and the job goes on."""
    tower: str | None = None
    """Where reports are posted to."""
    found: Sequence[Callable[[Finding], None]] = ()
    """Get each finding of the comparisons."""
    metrics: Path | None = None
    """A textfile of how the job stands, kept while it runs."""
    plan: str = "off"
    """`enforce`: ranks that are about to part end the job."""


def run(options: Options, say: Say) -> int:
    """Run the command; returns its exit code, as a shell would give it."""
    why = cannot_inject(os.environ)
    rings: Path | None = None
    work: Path | None = None
    if not why:
        try:
            rings = folder_for_rings(os.environ)
            work = work_folder(os.environ)
            (work / "dumps").mkdir()
        except OSError as error:
            why = f"no place for it: {error}"
    if why or rings is None or work is None:
        say(f"the job runs without the recorder: {why}")
        signal.pthread_sigmask(signal.SIG_SETMASK, options.blocked_before)
        os.execvp(options.command[0], list(options.command))
    try:
        return _Watch(options, say, rings, work).until_end()
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if not any(one.lives for one in look(rings)):
            shutil.rmtree(rings, ignore_errors=True)


class _Watch:
    def __init__(self, options: Options, say: Say, rings: Path, work: Path) -> None:
        self._say, self._meet_at, self._began = say, options.meet, time.time()
        env = job_environment(os.environ, rings, work / "dumps", os.getpid(), options.plan)
        output = Output(work, rings)
        self._job = Job(options.command, env, output, options.blocked_before)
        kernel = Kernel()
        self._roster = Roster(rings, self._job.pid, kernel)
        self._stall = Stall(time.monotonic(), options.stall)

        def logs() -> Sequence[Path]:
            return output.logs(self._roster.attempt)

        self._metrics, self._written = options.metrics, 0.0
        self._case = Case(options.wishes, say, logs, work / "dumps", env, kernel)
        self._response = Response(self._case, self._roster, self._stall, self._job, options.on_hang, say)
        self._duty: Duty | None = None
        if options.watch != "off":
            wishes = DutyWishes(
                options.watch == "enforce", options.on_desync == "abort", options.told, options.tower,
                options.found,
            )  # fmt: skip
            self._duty = Duty(wishes, self._response, self._stall, say)

    def until_end(self) -> int:
        while (code := self._job.wait(POLL_S)) is None:
            try:
                self._look_round()
            except Exception as error:  # whatever it is, the job is not to suffer from it
                self._say(f"watching failed: {type(error).__name__}: {error}")
        self._roster.codes[self._job.pid] = code
        self._job.finish(code)
        with contextlib.suppress(Exception):
            self._roster.look()
        self._response.end(code)
        if self._duty is not None:
            with contextlib.suppress(Exception):
                self._duty.end(code)
        self._write_metrics(ended=True)
        if (shown := self._case.shown) is not None and (shown / "report.html").is_file():
            self._say(page(shown))
        return code if code >= 0 else 128 - code

    def _look_round(self) -> None:
        self._roster.look()
        self._meet()
        noticed = self._stall.feed(time.monotonic(), self._roster.seen)
        nodes = self._response.nodes
        called = nodes is not None and nodes.called
        if noticed and not self._response.busy:
            self._response.begin(noticed=True)
        elif called and not self._response.busy:
            self._response.answer()
        self._response.go_on()
        if self._duty is not None:
            self._duty.look(self._roster.seen)
        if time.monotonic() - self._written > METRICS_S:
            self._write_metrics()

    def _write_metrics(self, ended: bool = False) -> None:
        if self._metrics is None:
            return
        self._written = time.monotonic()
        ranks = [] if ended else metrics.of_rows(rows(self._roster.seen))
        try:
            metrics.write(self._metrics, [*metrics.of_case(self._response.hang), *ranks])
        except OSError as error:
            self._say(f"no metrics: {self._metrics}: {error.strerror or error}")
            self._metrics = None

    def _meet(self) -> None:
        """Join the other nodes, once a rank shows that there are any."""
        seen = self._roster.seen
        if self._response.nodes is not None or not seen or self._meet_at is None:
            return
        ranks = tuple(sorted({one.rank for one in seen if one.rank >= 0}))
        if len(ranks) < max(self._roster.local, 1):
            return
        told = processes.environment(seen[0].pid)
        if (meeting_place := place(self._meet_at, told)) is not None:
            self._response.nodes = Nodes(meeting_place, self._say, ranks, self._began)
