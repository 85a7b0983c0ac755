"""What `raf run` does with the sentinel: looks twice a second, tells each incident once, and acts where it may."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rankandfile.capture.response import Response
from rankandfile.capture.sentinel.sentinel import Sentinel
from rankandfile.capture.watch.rings import Seen
from rankandfile.capture.watch.stall import Stall
from rankandfile.model.digest import Finding

#: Between two looks; how long a job must have stood still to be looked at as one that hangs; how long it must go on
#: to be one that does not.
LOOK_S, STILL_S, MOVES_S = 0.5, 1.5, 6.0
#: Lines about findings in so many seconds, and no more of one attempt: whatever is wrong, the first ones say it.
RATE_S, MOST = 60.0, 5

Say = Callable[[str], None]


@dataclass(frozen=True)
class DutyWishes:
    enforce: bool = False
    abort: bool = False
    """End the job when ranks have parted; without `enforce`, only say that it would be ended."""
    told: Callable[[str, Path], None] | None = None


class Duty:
    """Called by the thread that watches; raises nothing that the watching does not expect."""

    def __init__(self, wishes: DutyWishes, response: Response, stall: Stall, say: Say) -> None:
        self._wishes, self._response, self._stall, self._say = wishes, response, stall, say
        self.sentinel = Sentinel()
        self._looked = 0.0
        self._said: list[float] = []
        self._waiting: list[tuple[float, Finding]] = []
        """Told, and not looked into yet, with when."""

    def look(self, seen: Sequence[Seen]) -> None:
        now = time.monotonic()
        if now - self._looked >= LOOK_S:
            self._looked = now
            for finding in self.sentinel.look(seen):
                self._tell(finding, now)
        if self._waiting and not self._response.busy:
            self._look_into(now)

    def _tell(self, finding: Finding, now: float) -> None:
        action = ""
        if self._wishes.abort and finding.kind == "desync":
            action = "ended the job" if self._wishes.enforce else "would have ended the job"
        finding = msgspec.structs.replace(finding, action=action)
        self._response.findings.append(finding)
        self._said = [at for at in self._said if now - at < RATE_S]
        if len(self._said) >= MOST:
            return
        self._said.append(now)
        self._say(f"{finding.words} ({finding.certainty})")
        if action and not self._wishes.enforce:
            self._say("with --watch enforce the job would be ended now")
        self._waiting.append((now, finding))

    def _look_into(self, now: float) -> None:
        """At once where the job stands still, as at any that hangs; or when it is clear that it goes on."""
        if self._stall.told:
            self._waiting.clear()  # it is being looked at, or was
        elif self._stall.still(now) >= STILL_S:
            self._response.begin(noticed=True)
        elif now - self._waiting[0][0] >= MOVES_S:
            words = self._waiting[0][1].words
            told = self._wishes.told
            self._response.keep(lambda folder: told(words, folder) if told is not None else None)
        else:
            return
        self._response.stops_after |= any(one.action == "ended the job" for _, one in self._waiting)
        self._waiting.clear()
