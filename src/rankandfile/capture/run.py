"""`raf run`: a job under watch. What is in here may fail in any way but one: the job runs as it would without it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankandfile.capture import processes
from rankandfile.capture.case import Case, Wishes
from rankandfile.capture.environment import cannot_inject, job_environment
from rankandfile.capture.job import Job
from rankandfile.capture.places import folder_for_rings
from rankandfile.capture.rings import Seen, look
from rankandfile.capture.stall import Stall

POLL_S = 0.2
#: A job that is to end after a hang gets so long to do it by itself.
KILL_AFTER_S = 10.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    command: Sequence[str]
    wishes: Wishes
    stall: float | None = None
    on_hang: str = "report"
    """`report`, `dump-and-kill` or `kill`."""


def run(options: Options, say: Say) -> int:
    """Run the command; returns its exit code, as a shell would give it."""
    why = cannot_inject(os.environ)
    rings: Path | None = None
    work: Path | None = None
    if not why:
        try:
            rings = folder_for_rings(os.environ)
            work = Path(tempfile.mkdtemp(prefix="raf-run-"))
            (work / "dumps").mkdir()
        except OSError as error:
            why = f"no place for it: {error}"
    if why or rings is None or work is None:
        say(f"the job runs without the recorder: {why}")
        os.execvp(options.command[0], list(options.command))
    try:
        env = job_environment(os.environ, rings, work / "dumps", os.getpid())
        return _Watch(options, say, rings, work, Job(options.command, env, work), env).until_end()
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if not any(one.lives for one in look(rings)):
            shutil.rmtree(rings, ignore_errors=True)


class _Watch:
    def __init__(
        self, options: Options, say: Say, rings: Path, work: Path, job: Job, env: dict[str, str]
    ) -> None:
        self._options, self._say, self._rings, self._job = options, say, rings, job
        self._stall = Stall(time.monotonic(), options.stall)
        self._codes: dict[int, int] = {}
        self._seen: list[Seen] = []
        self._case = Case(options.wishes, say, job.logs, work / "dumps", env)
        self._at_work: threading.Thread | None = None
        self._told_calls: int | None = None
        """How many calls there were when the last verdict was given, until more are made."""
        self._stalled_calls: int | None = None
        self._kill_at: float | None = None

    def until_end(self) -> int:
        while (code := self._job.wait(POLL_S)) is None:
            try:
                self._look_round()
            except Exception as error:  # whatever it is, the job is not to suffer from it
                self._say(f"watching failed: {type(error).__name__}: {error}")
        self._codes[self._job.pid] = code
        self._job.finish(code)
        with contextlib.suppress(Exception):
            self._look_at_rings()
        if self._at_work is not None:
            self._at_work.join()
        try:
            self._at_the_end(code)
        except Exception as error:
            self._say(f"the diagnosis failed: {type(error).__name__}: {error}")
        return code if code >= 0 else 128 - code

    def _look_at_rings(self) -> None:
        self._seen = look(self._rings)
        gone = {one.pid for one in self._seen if not one.lives} - self._codes.keys() - {self._job.pid}
        self._codes |= processes.reap(gone)
        for pid in gone - self._codes.keys():
            found = processes.status(pid)
            # Where we may not know, the kernel says 0.
            if found is not None and found.state == "Z" and found.wait_status:
                self._codes[pid] = os.waitstatus_to_exitcode(found.wait_status)

    def _look_round(self) -> None:
        self._look_at_rings()
        now = time.monotonic()
        if self._stall.feed(now, self._seen) and (self._at_work is None or not self._at_work.is_alive()):
            self._at_work = threading.Thread(
                target=self._report, args=(self._stall.still(now), _calls(self._seen))
            )
            self._at_work.start()
        if self._told_calls is not None and not self._stall.told and _calls(self._seen) > self._told_calls:
            self._told_calls = None
            self._say("the job moves again")
        if self._kill_at is not None and now > self._kill_at:
            self._kill_at = None
            processes.end_all_below(os.getpid(), 1.0)

    def _now(self) -> tuple[Sequence[Seen], dict[int, int]]:
        return list(self._seen), dict(self._codes)

    def _report(self, still: float, calls: int) -> None:
        """In a thread of its own: the job's output and signals go on meanwhile."""
        try:
            self._say(f"nothing has moved for {still:.0f} s: looking why")
            on_hang = self._options.on_hang
            self._stalled_calls = calls
            stands = self._case.of_stall(self._now, on_hang != "kill", lambda: self._stall.told)
            if stands is None:
                self._stall.undecided()
            if stands:
                self._told_calls = calls
            if on_hang != "report" and stands is not False and self._stall.told:
                self._say("ending the job")
                self._kill_at = time.monotonic() + KILL_AFTER_S
                self._job.terminate()
        except Exception as error:
            self._say(f"the diagnosis failed: {type(error).__name__}: {error}")

    def _at_the_end(self, code: int) -> None:
        if self._job.endings:
            return
        if not self._seen:
            self._say("nothing was recorded: no Python of the job made a process group")
        elif self._told_calls is not None and _calls(self._seen) <= self._told_calls:
            self._say(f"the job ended with {code}; the verdict above stands")
        elif code != 0:
            self._case.of_end(code, self._now, _calls(self._seen) == self._stalled_calls)


def _calls(seen: Sequence[Seen]) -> int:
    return sum(one.calls for one in seen)
