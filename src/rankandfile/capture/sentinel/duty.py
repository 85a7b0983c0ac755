"""What `raf run` does with the sentinel: looks twice a second, tells each incident once, and acts where it may."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rankandfile.capture.ras.witness import Witness, witness_of
from rankandfile.capture.response import Response
from rankandfile.capture.sentinel import findings
from rankandfile.capture.sentinel.across import Across, Found, word_of
from rankandfile.capture.sentinel.digests import Reports
from rankandfile.capture.sentinel.history import Call
from rankandfile.capture.sentinel.naming import job_of
from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.sentinel.sentinel import Sentinel
from rankandfile.capture.sentinel.telling import diverged
from rankandfile.capture.sentinel.telling_slow import frozen
from rankandfile.capture.tower.handing import Handing
from rankandfile.capture.tower.posting import Posting
from rankandfile.capture.watch.rings import Seen
from rankandfile.capture.watch.stall import Stall
from rankandfile.model.digest import Finding, Frame

#: Between two looks; how long a job must have stood still to be looked at as one that hangs; how long it must go on
#: to be one that does not.
LOOK_S, STILL_S, MOVES_S = 0.5, 1.5, 6.0
#: Between two reports.
REPORT_S = 1.0
#: Lines about findings in so many seconds, and no more of one attempt: whatever is wrong, the first ones say it.
RATE_S, MOST = 60.0, 5

Say = Callable[[str], None]


@dataclass(frozen=True)
class DutyWishes:
    enforce: bool = False
    abort: bool = False
    """End the job when ranks have parted; without `enforce`, only say that it would be ended."""
    told: Callable[[str, Path], None] | None = None
    tower: str | None = None
    found: Sequence[Callable[[Finding], None]] = ()
    """Get each finding, and once more when it is over."""


class Duty:
    """Called by the thread that watches; raises nothing that the watching does not expect."""

    def __init__(self, wishes: DutyWishes, response: Response, stall: Stall, say: Say) -> None:
        self._wishes, self._response, self._stall, self._say = wishes, response, stall, say
        self.sentinel = Sentinel()
        self._looked = self._reported = self._shared = self._asked = 0.0
        self._witness: Witness | None = None
        self._across: Across | None = None
        self._posting = Posting(wishes.tower, say) if wishes.tower else None
        self._handing = Handing(wishes.tower, say) if wishes.tower else None
        self._reports: dict[str, Reports] = {}
        self._new: list[Finding] = []
        self._said: list[float] = []
        self._waiting: list[tuple[float, Finding]] = []
        """Told, and not looked into yet, with when."""
        self._due: list[Finding] = []
        """The job is being ended for these."""
        self._frozen: Finding | None = None
        self._ends = ""
        """Why the job is ended by us."""

    def look(self, seen: Sequence[Seen]) -> None:
        now = time.monotonic()
        if now - self._looked >= LOOK_S:
            self._looked = now
            for finding in self.sentinel.look(seen):
                if not self._response.ending:
                    self._tell(finding, now)
        self._beyond(now)
        self._still()
        self._done()
        self._ask(now)
        if self._posting is not None and now - self._reported >= REPORT_S:
            self._reported = now
            self._report(self._posting)
        self._hand_over()
        if self._waiting and not any(one.lives for one in seen):
            # The attempt is over: there is nothing to look into, and its launcher may start another.
            self._waiting.clear()
        if self._waiting and not self._response.busy:
            self._look_into(now)

    def _hand_over(self) -> None:
        """Cases that are there by now; of the program that reports most ranks."""
        if self._handing is None or not self._reports:
            return
        job = max(self._reports.values(), key=lambda one: one.job.world).job
        for case in list(self._response.cases):
            self._handing.hand(case, job.id)

    def _beyond(self, now: float) -> None:
        """The other nodes, once there are any."""
        nodes = self._response.nodes
        if nodes is None or nodes.lost:
            return
        if self._across is None:
            self._across = Across(nodes)
        if now - self._shared >= REPORT_S:
            self._shared = now
            ranks = self._ranks()
            told = [one.group for one in self._response.findings]
            own = word_of(ranks, self._across.asks, told)
            self._across.own = msgspec.structs.replace(own, ends=self._ends[:4000])
        if self._acts and self._across.ended and not self._ends:
            self._ends = self._across.ended
            self._say(f"another node ends the job: {self._ends}")
            self._response.ends(self._ends)
        if self._across.ended and self._ends and not self._response.busy and not self._response.ended:
            self._response.end_with(nodes)
        while self._across.clocks:
            self._tell(self._across.clocks.popleft(), now)
        while self._across.found:
            found = self._across.found.popleft()

            def path(rank: int, call: Call, found: Found = found) -> tuple[Frame, ...]:
                return found.excerpts[rank].paths[call.stack]

            self._tell(diverged(found.divergence, found.group, found.name, path, time.time()), now)

    def _still(self) -> None:
        """A verdict stands, of a job in which no other comparison found anything: it goes to whoever reads findings."""
        verdict = self._response.verdict
        if self._frozen is not None and verdict is None:
            self._note(msgspec.structs.replace(self._frozen, over=True, time=time.time()))
            self._frozen = None
        elif (
            self._frozen is None and verdict is not None and not any(map(_explains, self._response.findings))
        ):
            words, case = verdict
            found = frozen(self._ranks(), words, time.time())
            self._frozen = msgspec.structs.replace(
                found, case=f"{os.uname().nodename}:{case.resolve()}"[:4000]
            )
            self._note(self._frozen)
            with contextlib.suppress(OSError):
                findings.write(case, self._response.findings)

    def _done(self) -> None:
        """That the job was ended is told once it was."""
        if not self._due or not self._response.ended:
            return
        for finding in self._due:
            self._note(msgspec.structs.replace(finding, action="ended the job"))
        self._due = []
        if (case := self._response.newest) is not None:
            with contextlib.suppress(OSError):
                findings.write(case, self._response.findings)

    def _ask(self, now: float) -> None:
        """NCCL's RAS, once the job has NCCL."""
        if now - self._asked >= REPORT_S:
            self._asked = now
            ranks = self._ranks()
            if self._witness is None and (witness := witness_of(ranks)) is not None:
                self._witness = witness
                self._response.also(witness.write)
            if self._witness is not None:
                self._witness.ranks = ranks
        while self._witness is not None and self._witness.found:
            finding = self._witness.found.popleft()
            if finding.over or not any(map(_explains, self._response.findings)):
                self._tell(finding, now)

    def _ranks(self) -> dict[int, Rank]:
        return max(self.sentinel.ranks.programs().values(), key=len, default={})

    def _note(self, finding: Finding) -> None:
        """For the cases to come, and for the tower; one with a known id replaces it."""
        known = [one for one in self._response.findings if one.id != finding.id]
        self._response.findings[:] = [*known, finding]
        self._new.append(finding)
        for tell in self._wishes.found:
            tell(finding)

    def end(self, code: int) -> None:
        """The job has ended: perhaps by us, between a verdict and the next look."""
        self._still()
        self._done()
        if self._posting is not None:
            self._report(self._posting, code)
        self._hand_over()
        if self._handing is not None:
            self._handing.finish()

    def _report(self, posting: Posting, ended: int | None = None) -> None:
        """One for each program; findings go with the first."""
        for name, ranks in self.sentinel.ranks.programs().items():
            first = min(ranks.values(), key=lambda one: one.rank)
            reports = self._reports.get(name)
            if reports is None or reports.job.attempt != first.seen.attempt:
                reports = self._reports[name] = Reports(job_of(name, first), os.uname().nodename)
            posting.post(reports.of(ranks, self._new, ended))
            self._new = []
        if ended is not None:
            posting.finish()

    def _tell(self, finding: Finding, now: float) -> None:
        if any(one.id == finding.id and one.over == finding.over for one in self._response.findings):
            return  # this node has found it in the second in which all nodes together did
        known = {
            (one.kind, one.group): one.id for one in self._response.findings if one.group and not one.over
        }
        if known.get((finding.kind, finding.group), finding.id) != finding.id:
            return  # another node's word of it, or what follows from it
        divergence = finding.kind == "desync" and not finding.over
        if divergence and self._wishes.abort and not self._wishes.enforce:
            finding = msgspec.structs.replace(finding, action="would have ended the job")
        self._note(finding)
        told = self._tell_line(finding, now)
        if not finding.over and (told or (divergence and self._acts)):
            self._waiting.append((now, finding))

    def _tell_line(self, finding: Finding, now: float) -> bool:
        """Whether it was said: no more than `MOST` are, in a while."""
        self._said = [at for at in self._said if now - at < RATE_S]
        if len(self._said) >= MOST:
            return False
        self._said.append(now)
        self._say(finding.words if finding.over else f"{finding.words} ({finding.certainty})")
        if finding.action:
            self._say("with --watch enforce the job would be ended now")
        return True

    @property
    def _acts(self) -> bool:
        return self._wishes.enforce and self._wishes.abort

    def _look_into(self, now: float) -> None:
        """At once where the job stands still, as at any that hangs; or when it is clear that it goes on."""
        due = [one for _, one in self._waiting if one.kind == "desync"] if self._acts else []
        looked = self._stall.told
        stands = not looked and self._stall.still(now) >= STILL_S
        if not looked and not stands and now - self._waiting[0][0] < MOVES_S:
            return
        if due:
            self._due += due
            self._ends = self._ends or due[0].words
            self._response.ends(self._ends)
        if stands:
            self._response.begin(noticed=True)
        elif due or not looked:
            words, told = (due[0] if due else self._waiting[0][1]).words, self._wishes.told
            self._response.keep(words, lambda folder: told(words, folder) if told is not None else None)
        self._waiting.clear()


def _explains(finding: Finding) -> bool:
    return finding.kind in ("desync", "order", "missing") and not finding.over
