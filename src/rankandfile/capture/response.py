"""What is done when the job stands still, and when it has ended: evidence, a verdict, and the job's end if wanted.

A verdict is not the last word: it is taken back where the job moves again, and replaced where evidence arrives later.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rankandfile.capture.case import Case
from rankandfile.capture.diagnose import Answer
from rankandfile.capture.gathering import Gathering
from rankandfile.capture.launch.job import Job
from rankandfile.capture.meet.nodes import Nodes
from rankandfile.capture.meet.together import Speaks, Told, confer
from rankandfile.capture.revisions import Revisions, Stands, headline, publish
from rankandfile.capture.unreached import Unreached
from rankandfile.capture.watch import processes
from rankandfile.capture.watch.roster import Roster
from rankandfile.capture.watch.stall import Stall

Say = Callable[[str], None]
_CALLED = "another node has noticed a stall: looking here, too"


class Response:
    """Takes its time in a thread of its own: the job's output and signals go on meanwhile."""

    def __init__(self, case: Case, roster: Roster, stall: Stall, job: Job, on_hang: str, say: Say) -> None:
        self._case, self._roster, self._stall, self._job = case, roster, stall, job
        self._on_hang, self._say = on_hang, say
        self.nodes: Nodes | None = None
        """The watchers of the job's other nodes, once there are any."""
        self._thread: threading.Thread | None = None
        self._stands: Stands | None = None
        self._slow: Path | None = None
        """The case of a job that was found to be slow, until it moves."""
        self._revisions = Revisions(case, stall, say)
        self._unreached = Unreached(roster, say)
        self._stalled_calls: int | None = None
        self._gathering = Gathering(case, roster, say)
        self.findings, self.cases = self._gathering.findings, self._gathering.cases
        self._ends = ""
        """Why the job is to be ended as soon as it has been looked at."""
        self._ending = False
        """The job is ended by us: what its ranks call on their way out changes nothing. Nor where a signal ends it."""

    @property
    def busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def ending(self) -> bool:
        """The job is being ended, by us or by a signal: that ranks go now says nothing of what was wrong."""
        return self._ending or bool(self._job.endings)

    @property
    def ended(self) -> bool:
        """The job was ended for what `ends` was told."""
        return self._ending and bool(self._ends)

    @property
    def newest(self) -> Path | None:
        """The case that was made last, diagnosed or not."""
        return self._gathering.newest

    @property
    def hang(self) -> Path | None:
        """The case of the verdict that holds."""
        stands = self._stands
        return stands.folder if stands is not None and not stands.late else None

    @property
    def verdict(self) -> tuple[str, Path] | None:
        """The words of the verdict that this node has given and that holds, and its case."""
        stands = self._stands
        return (stands.words, stands.folder) if stands is not None and self.hang and not stands.told else None

    def also(self, write: Callable[[Path], None]) -> None:
        """Writes more into each case's folder of evidence."""
        self._case.also.append(write)

    def begin(self, noticed: bool) -> None:
        """Look why the job stands still. `noticed`: it was seen here, and not on another node only."""
        self._stall.tell(time.monotonic())
        self._start(lambda: self._to_stall(noticed))

    def answer(self) -> None:
        """Another node has called: look here too why the job stands still, or hand in what there is if it goes on."""
        nodes = self.nodes
        if nodes is not None and nodes.keeper:
            self._start(lambda: self._keep(nodes.alarm))
        else:
            self.begin(noticed=False)

    def keep(self, found: str, told: Callable[[Path], None]) -> None:
        """Ranks have parted, and the job goes on: keep the evidence of now, of all nodes."""
        nodes = self.nodes
        self._start(
            lambda: told(self._keep(nodes.raise_alarm(goes_on=True) if nodes is not None else 0, found))
        )

    def _keep(self, alarm: int, found: str = "") -> Path:
        folder = self._gathering.keep(self.nodes, alarm, found, lambda: self._stall.told)
        if self.nodes is not None and self._stands is None:
            self.nodes.listen(False)
        return folder

    def ends(self, why: str) -> None:
        """The job is to be ended as soon as it has been looked at. Its ranks say so now: when the first of them goes,
        the others fail in their calls, and have nothing to say but that."""
        if self._ends:
            return
        self._ends = why
        for one in self._roster.seen:
            if one.lives:
                processes.write_on(one.pid, f"[rank {one.rank}] raf ends this job: {why}\n")

    def end_with(self, nodes: Nodes) -> None:
        """Another node ends the job, and keeps the evidence of all."""

        def hand_in() -> None:
            nodes.hear()
            if nodes.called:
                self._keep(nodes.alarm)

        self._start(hand_in)

    def _stop(self) -> None:
        self._say("ending the job")
        self._ending = True
        self._job.end()

    def go_on(self) -> None:
        """To be called while the job runs: what has been said holds until there are more calls, or more evidence."""
        if self.ending:
            return
        if not self._stall.told:
            self._case.moves(self._stall.still(time.monotonic()))
            if self._slow is not None and not self.busy:
                shutil.rmtree(self._slow, ignore_errors=True)
                self._slow = None
                self._say("the job moves again")
        stands = self._stands
        if stands is None or self.busy:
            return
        if not self._stall.told and self._roster.calls > stands.calls:
            self._stands = None
            self._start(lambda: self._revisions.moved(stands, self._roster.seen, self.nodes))
        elif self._stall.told and self.nodes is not None and stands.alarm:
            nodes = self.nodes
            if self._revisions.is_later(stands, nodes):
                self._start(lambda: self._look_again(stands, nodes))

    def end(self, code: int) -> None:
        """The job has ended."""
        if self._thread is not None:
            self._thread.join()
        try:
            self._to_end(code)
        except Exception as error:
            self._say(f"the diagnosis failed: {type(error).__name__}: {error}")

    def _start(self, work: Callable[[], object]) -> None:
        def run() -> None:
            try:
                work()
            except Exception as error:
                self._say(f"the diagnosis failed: {type(error).__name__}: {error}")
            if self._ends and not self._ending:
                self._stop()

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def _to_stall(self, noticed: bool) -> None:
        calls = self._stalled_calls = self._roster.calls
        idle = noticed and not any(one.lives and one.open for one in self._roster.seen)
        if not noticed:
            self._say(_CALLED)
        elif not idle:
            still = self._stall.still(time.monotonic())
            self._say(f"nothing has moved for {still:.0f} s: looking why")
        self._unreached.tell()
        hang = self._look_why(idle, calls)
        if not hang:
            self._stall.undecided()
        # What no evidence shows to be a hang is left to the job's own watchdog, and looked at again.
        wanted = self._on_hang != "report" and hang
        # Before the first call it may download or compile for a long time: nobody has said how long is too long.
        known = calls > 0 or self._stall.by_hand
        if wanted and known and self._stall.told:
            self._stop()

    def _look_why(self, idle: bool, calls: int) -> bool | None:
        """Whether it is a hang; None where that is undetermined, False also where the job goes on."""
        nodes = self.nodes
        # A node that computes while nobody waits is no reason to stop all others.
        alarm = nodes.raise_alarm() if nodes is not None and not idle else 0
        waited = {one.path: one.waits for one in self._roster.seen if one.lives and one.waits}
        if self._slow is not None:
            shutil.rmtree(self._slow, ignore_errors=True)
            self._slow = None
        folder = self._gathering.of_stall(self._on_hang != "kill")
        if idle and nodes is not None and nodes.called:
            # Nobody waits here, but somebody does there, and is not to wait for what is looked for here alone.
            self._say(_CALLED)
            idle, alarm = False, nodes.raise_alarm()
        moves = not self._stall.told
        said = (
            confer(nodes, folder / "evidence", alarm, self._say) if nodes is not None and alarm else Speaks()
        )
        stands = Stands(calls, waited, time.monotonic(), folder, alarm=alarm)
        if isinstance(said, Told):
            self._say(f"{said.words}; evidence of this node: {folder}")
            stands.told = said
            self._stands = stands if said.hang else None
            return said.hang
        # An attempt whose ranks are all gone, and no other node's hang: the launcher may start another.
        over = not any(one.lives for one in self._roster.seen) and (nodes is None or not nodes.others())
        if moves or over or not self._stall.told:
            self._forget(folder, idle or over)
            return False
        stands.missing = said.missing
        return self._judge(stands, idle)

    def _forget(self, folder: Path, idle: bool) -> None:
        """The job has moved meanwhile."""
        shutil.rmtree(folder, ignore_errors=True)
        if not idle:
            self._say("the job moves again")

    def _judge(self, stands: Stands, idle: bool) -> bool | None:
        folder = stands.folder
        answer = self._case.judge(folder, lambda: self._stall.told)
        stands.words = headline(answer)
        if not self._stall.told:
            self._forget(folder, idle)
            answer = Answer(0, "", "")
        elif answer.late:
            self._slow = folder
            self._say(f"{answer.words} Case: {folder}")
        elif answer.is_hang:
            self._say(f"case: {folder}")
            self._stands = stands
            self.cases.append(folder)
        elif idle:
            # Nobody was seen to wait, and nothing is wrong: there is nothing to keep.
            shutil.rmtree(folder, ignore_errors=True)
        elif answer.status >= 0:  # not ended by a signal, with the job
            self._say(f"{answer.words}; case: {folder}")
        publish(self.nodes, str(stands.alarm) if stands.alarm else "", answer, folder)
        return answer.is_hang

    def _look_again(self, stands: Stands, nodes: Nodes) -> None:
        self._stands = self._revisions.later(stands, nodes)
        if stands.late:
            self._slow = stands.folder

    def _to_end(self, code: int) -> None:
        nodes, roster, interrupted = self.nodes, self._roster, bool(self._job.endings)
        told = self._stands
        stands = told is not None and (self._ending or roster.calls <= told.calls)
        bad = code != 0 and not interrupted and bool(roster.seen)
        try:
            self._unreached.tell()
            if not roster.seen and not interrupted:
                why = roster.unreached.get(-1, "no Python of the job made a process group")
                self._say(f"nothing was recorded: {why}")
            elif stands and not interrupted:
                self._say(f"the job ended with {code}; the verdict above stands")
            elif self.ended and not interrupted:
                self._say(
                    f"the job ended with {code}; raf ended it, because {self._ends}; case: {self._gathering.newest}"
                )
            elif bad or (nodes is not None and not interrupted and nodes.others()):
                self._tell_the_end(code)
        finally:
            if self._slow is not None and code == 0:
                shutil.rmtree(self._slow, ignore_errors=True)
            if nodes is not None:
                nodes.leave(nothing_to_tell=code == 0)

    def _tell_the_end(self, code: int) -> None:
        folder = self._gathering.of_end(self._roster.calls == self._stalled_calls)
        nodes = self.nodes
        if nodes is not None and nodes.others():
            said = confer(nodes, folder / "evidence", nodes.alarm, self._say, ended=code)
            if isinstance(said, Told):
                self._say(f"the job ended here with {code}; {said.words}; evidence of this node: {folder}")
                return
        answer = self._case.judge(folder)
        verdict = answer.is_hang or answer.late
        self._say(f"the job ended with {code}{'' if verdict else '; no verdict'}; case: {folder}")
        self.cases.append(folder)
        publish(self.nodes, "end", answer, folder)
