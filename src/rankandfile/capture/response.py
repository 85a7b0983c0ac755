"""What is done when the job stands still, and when it has ended: evidence, a verdict, and the job's end if wanted."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rankandfile.capture.case import Case
from rankandfile.capture.diagnose import Answer
from rankandfile.capture.launch.job import Job
from rankandfile.capture.meet.nodes import Nodes
from rankandfile.capture.meet.together import Told, confer
from rankandfile.capture.watch.rings import NO_RING
from rankandfile.capture.watch.roster import Roster
from rankandfile.capture.watch.stall import Stall
from rankandfile.model.ranks import format_ranks

Say = Callable[[str], None]


class Response:
    """Takes its time in a thread of its own: the job's output and signals go on meanwhile."""

    def __init__(self, case: Case, roster: Roster, stall: Stall, job: Job, on_hang: str, say: Say) -> None:
        self._case, self._roster, self._stall, self._job = case, roster, stall, job
        self._on_hang, self._say = on_hang, say
        self.nodes: Nodes | None = None
        """The watchers of the job's other nodes, once there are any."""
        self._thread: threading.Thread | None = None
        self._told_calls: int | None = None
        """How many calls there were when the last verdict was given, until more are made."""
        self._told_unreached = False
        self._stalled_calls: int | None = None

    @property
    def busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def begin(self, noticed: bool) -> None:
        """Look why the job stands still. `noticed`: it was seen here, and not on another node only."""
        self._stall.tell(time.monotonic())
        self._thread = threading.Thread(target=self._to_stall, args=(noticed,))
        self._thread.start()

    def moves(self) -> None:
        """To be called while the job runs: a verdict holds until there are more calls."""
        if self._told_calls is not None and not self._stall.told and self._roster.calls > self._told_calls:
            self._told_calls = None
            self._say("the job moves again")

    def end(self, code: int) -> None:
        """The job has ended."""
        if self._thread is not None:
            self._thread.join()
        try:
            self._to_end(code)
        except Exception as error:
            self._say(f"the diagnosis failed: {type(error).__name__}: {error}")

    def _to_stall(self, noticed: bool) -> None:
        try:
            calls = self._stalled_calls = self._roster.calls
            idle = noticed and not any(one.lives and one.open for one in self._roster.seen)
            if not noticed:
                self._say("another node has noticed a stall: looking here, too")
            elif not idle:
                still = self._stall.still(time.monotonic())
                self._say(f"nothing has moved for {still:.0f} s: looking why")
            self._tell_unreached()
            hang = self._look_why(idle)
            if hang:
                self._told_calls = calls
            else:
                self._stall.undecided()
            wanted = self._on_hang != "report" and (hang or (hang is None and not idle))
            # Before the first call it may download or compile for a long time: nobody has said how long is too long.
            known = calls > 0 or self._stall.by_hand
            if wanted and known and self._stall.told:
                self._say("ending the job")
                self._job.end()
        except Exception as error:
            self._say(f"the diagnosis failed: {type(error).__name__}: {error}")

    def _look_why(self, idle: bool) -> bool | None:
        """Whether it is a hang; None where that is undetermined, False also where the job went on meanwhile."""
        nodes = self.nodes
        # A node that computes while nobody waits is no reason to stop all others.
        alarm = nodes.raise_alarm() if nodes is not None and not idle else 0
        self._case.knows(self._roster.told)
        folder = self._case.of_stall(self._roster.now, self._on_hang != "kill")
        moves = not self._stall.told
        told = confer(nodes, folder / "evidence", alarm, self._say) if nodes is not None and alarm else None
        if told is not None:
            self._say(f"{told.words}; evidence of this node: {folder}")
            return told.hang
        if moves or not self._stall.told:
            shutil.rmtree(folder, ignore_errors=True)
            self._say("the job moves again")
            return False
        return self._judge(folder, str(alarm) if alarm else "", idle)

    def _judge(self, folder: Path, about: str, idle: bool) -> bool | None:
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

    def _to_end(self, code: int) -> None:
        nodes, roster, interrupted = self.nodes, self._roster, bool(self._job.endings)
        stands = self._told_calls is not None and roster.calls <= self._told_calls
        bad = code != 0 and not interrupted and bool(roster.seen)
        try:
            self._tell_unreached()
            if not roster.seen and not interrupted:
                why = roster.unreached.get(-1, "no Python of the job made a process group")
                self._say(f"nothing was recorded: {why}")
            elif stands and not interrupted:
                self._say(f"the job ended with {code}; the verdict above stands")
            elif bad or (nodes is not None and not interrupted and nodes.others()):
                self._tell_the_end(code)
        finally:
            if nodes is not None:
                nodes.leave(nothing_to_tell=code == 0)

    def _tell_unreached(self) -> None:
        """Once: which ranks record nothing because of how they were started."""
        recorded = {one.rank for one in self._roster.seen if one.path != NO_RING}
        missing = {
            rank: why for rank, why in self._roster.unreached.items() if rank >= 0 and rank not in recorded
        }
        if self._told_unreached or not missing:
            return
        self._told_unreached = True
        for why in sorted(set(missing.values())):
            ranks = [rank for rank in sorted(missing) if missing[rank] == why]
            self._say(f"nothing was recorded of rank{'s' * (len(ranks) > 1)} {format_ranks(ranks)}: {why}")

    def _tell_the_end(self, code: int) -> None:
        self._case.knows(self._roster.told)
        folder = self._case.of_end(self._roster.now, self._roster.calls == self._stalled_calls)
        nodes = self.nodes
        told: Told | None = None
        if nodes is not None and nodes.others():
            told = confer(nodes, folder / "evidence", nodes.alarm, self._say, ended=code)
        if told is not None:
            self._say(f"the job ended here with {code}; {told.words}; evidence of this node: {folder}")
            return
        answer = self._case.judge(folder)
        self._say(f"the job ended with {code}{'' if answer.is_hang else '; no verdict'}; case: {folder}")
        self._publish("end", answer, folder)

    def _publish(self, about: str, answer: Answer, folder: Path) -> None:
        if self.nodes is not None and about:
            headline = (
                answer.card.strip().splitlines()[0]
                if answer.is_hang and answer.card.strip()
                else answer.words
            )
            verdict = {"node": self.nodes.word.name, "headline": headline, "hang": answer.is_hang}
            self.nodes.publish(about, {**verdict, "case": str(folder.absolute())})
