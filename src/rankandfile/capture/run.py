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
from rankandfile.capture.diagnose import Answer
from rankandfile.capture.endings import Endings
from rankandfile.capture.environment import cannot_inject, job_environment
from rankandfile.capture.job import Job
from rankandfile.capture.kernel import Kernel
from rankandfile.capture.nodes import Nodes
from rankandfile.capture.places import folder_for_rings
from rankandfile.capture.rings import Seen, look
from rankandfile.capture.stall import Stall
from rankandfile.capture.together import Told, confer
from rankandfile.capture.unrecorded import unrecorded
from rankandfile.capture.where_to_meet import Meeting, place

POLL_S = 0.2
#: How often processes without a ring are looked for, while there may be any.
SEARCH_S = 2.0
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
    meet: Meeting = "store"
    """Where the watchers of the job's nodes meet: a folder, the job's own `store`, or None for nowhere."""


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
        self._began = time.time()
        self._stall = Stall(time.monotonic(), options.stall)
        self._endings, self._kernel = Endings(), Kernel()
        self._codes: dict[int, int] = {}
        self._seen: list[Seen] = []
        self._unrecorded: list[Seen] = []
        self._searched = 0.0
        self._local = 0
        """How many ranks the launcher starts on this node, where a rank was told."""
        self._case = Case(options.wishes, say, job.logs, work / "dumps", env, self._kernel)
        self._nodes: Nodes | None = None
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
            self._look_at_processes()
        if self._at_work is not None:
            self._at_work.join()
        try:
            self._at_the_end(code)
        except Exception as error:
            self._say(f"the diagnosis failed: {type(error).__name__}: {error}")
        return code if code >= 0 else 128 - code

    def _look_at_processes(self) -> None:
        recorded = look(self._rings)
        self._search(recorded)
        known = {one.rank for one in recorded}
        self._seen = recorded + [one for one in self._unrecorded if one.rank not in known]
        for one in self._seen:
            if one.lives:
                self._endings.watch(one.pid)
        self._kernel.note(one.pid for one in recorded if one.lives)
        gone = {one.pid for one in self._seen if not one.lives} - self._codes.keys() - {self._job.pid}
        self._codes |= processes.reap(gone)
        for pid in gone - self._codes.keys():
            if (code := self._endings.code(pid)) is not None:
                self._codes[pid] = code

    def _search(self, recorded: Sequence[Seen]) -> None:
        """Ranks that have not come to make a process group, and what the launcher told the ranks."""
        self._unrecorded = [
            one._replace(lives=processes.alive(one.pid, one.started)) for one in self._unrecorded
        ]
        now = time.monotonic()
        if now - self._searched < SEARCH_S or (self._local and len(recorded) >= self._local):
            return
        self._searched = now
        environments = {pid: processes.environment(pid) for pid in processes.descendants(os.getpid())}
        known = {one.rank for one in (*recorded, *self._unrecorded)}
        self._unrecorded += unrecorded(environments, known)
        told = next((one for one in environments.values() if "RANK" in one), None)
        if told is not None and not self._local:
            self._local = (
                int(told.get("LOCAL_WORLD_SIZE", "0")) if told.get("LOCAL_WORLD_SIZE", "").isdigit() else 0
            )
            self._case.knows(told)

    def _meet(self) -> None:
        """Join the other nodes, once a rank shows that there are any."""
        if self._nodes is not None or not self._seen or self._options.meet is None:
            return
        ranks = tuple(sorted({one.rank for one in self._seen if one.rank >= 0}))
        if len(ranks) < max(self._local, 1):
            return
        told = processes.environment(self._seen[0].pid)
        if (muster := place(self._options.meet, told)) is not None:
            self._nodes = Nodes(muster, self._say, ranks, self._began)

    def _look_round(self) -> None:
        self._look_at_processes()
        self._meet()
        now = time.monotonic()
        noticed = self._stall.feed(now, self._seen)
        nodes = self._nodes
        called = nodes is not None and nodes.alarm > nodes.word.answered
        if (noticed or called) and (self._at_work is None or not self._at_work.is_alive()):
            self._stall.tell(now)
            self._at_work = threading.Thread(
                target=self._report, args=(self._stall.still(now), _calls(self._seen), noticed)
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

    def _report(self, still: float, calls: int, noticed: bool) -> None:
        """In a thread of its own: the job's output and signals go on meanwhile."""
        try:
            idle = noticed and not any(one.lives and one.open for one in self._seen)
            if not noticed:
                self._say("another node has noticed a stall: looking here, too")
            elif not idle:
                self._say(f"nothing has moved for {still:.0f} s: looking why")
            self._stalled_calls = calls
            hang = self._look_why(idle)
            if hang is None:
                self._stall.undecided()
            if hang:
                self._told_calls = calls
            if (
                self._options.on_hang != "report"
                and (hang or (hang is None and not idle))
                and self._stall.told
            ):
                self._say("ending the job")
                self._kill_at = time.monotonic() + KILL_AFTER_S
                self._job.terminate()
        except Exception as error:
            self._say(f"the diagnosis failed: {type(error).__name__}: {error}")

    def _look_why(self, idle: bool) -> bool | None:
        """Whether it is a hang; None where that is undetermined, False also where the job went on meanwhile."""
        nodes = self._nodes
        # A node that computes while nobody waits is no reason to stop all others.
        alarm = nodes.raise_alarm() if nodes is not None and not idle else 0
        folder = self._case.of_stall(self._now, self._options.on_hang != "kill")
        moves = not self._stall.told
        told = confer(nodes, folder / "evidence", alarm, self._say) if nodes is not None and alarm else None
        if told is not None:
            self._say(f"{told.words}; evidence of this node: {folder}")
            return told.hang
        if moves or not self._stall.told:
            self._say("the job moves again")
            return False
        return self._judge(folder, str(alarm) if alarm else "", idle)

    def _judge(self, folder: Path, about: str, idle: bool = False) -> bool | None:
        answer = self._case.judge(folder)
        if answer.is_hang:
            self._say(f"case: {folder}")
        elif idle:
            # Nobody was seen to wait, and nothing is wrong: there is nothing to keep.
            shutil.rmtree(folder, ignore_errors=True)
        elif answer.status >= 0:  # not ended by a signal, with the job
            self._say(f"{answer.words}; case: {folder}")
        self._publish(about, answer, folder)
        return answer.is_hang

    def _publish(self, about: str, answer: Answer, folder: Path) -> None:
        if self._nodes is not None and about:
            headline = (
                answer.card.strip().splitlines()[0]
                if answer.is_hang and answer.card.strip()
                else answer.words
            )
            verdict = {"node": self._nodes.word.name, "headline": headline, "hang": answer.is_hang}
            self._nodes.publish(about, {**verdict, "case": str(folder.absolute())})

    def _at_the_end(self, code: int) -> None:
        nodes, stands = self._nodes, self._told_calls is not None and _calls(self._seen) <= self._told_calls
        bad = code != 0 and not self._job.endings and bool(self._seen)
        try:
            if not self._seen and not self._job.endings:
                self._say("nothing was recorded: no Python of the job made a process group")
            elif stands and not self._job.endings:
                self._say(f"the job ended with {code}; the verdict above stands")
            elif bad or (nodes is not None and not self._job.endings and nodes.others()):
                self._tell_the_end(code)
        finally:
            if nodes is not None:
                nodes.leave(nothing_to_tell=code == 0)

    def _tell_the_end(self, code: int) -> None:
        folder = self._case.of_end(self._now, _calls(self._seen) == self._stalled_calls)
        nodes = self._nodes
        told: Told | None = None
        if nodes is not None and nodes.others():
            told = confer(nodes, folder / "evidence", nodes.alarm, self._say, ended=code)
        if told is not None:
            self._say(f"the job ended here with {code}; {told.words}; evidence of this node: {folder}")
            return
        answer = self._case.judge(folder)
        self._say(f"the job ended with {code}{'' if answer.is_hang else '; no verdict'}; case: {folder}")
        self._publish("end", answer, folder)


def _calls(seen: Sequence[Seen]) -> int:
    return sum(one.calls for one in seen)
