"""The ranks of a test, watched from a thread of the pytest that runs it, or of each pytest that is itself a rank."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rankandfile.capture.case import Case, Wishes
from rankandfile.capture.watch import processes
from rankandfile.capture.watch.rings import Seen, look, unrecorded, with_stops
from rankandfile.capture.watch.stall import Stall

POLL_S, SEARCH_S = 0.2, 2.0
#: A test that is over sooner is not looked at.
SHORT_S = 1.0
#: Between SIGTERM and SIGKILL; and for a test to end once its ranks are gone, before it counts as stuck itself.
END_S, UNTIL_STUCK_S = 2.0, 10.0

_VERDICT, _CLAIM = "verdict.json", "claimed"


@dataclass(frozen=True)
class Hang:
    """What is to be told of a test that hung."""

    card: str
    case: str


class Watch:
    """Of the ranks that record into `rings`, below the process `root`.

    Several watches of one folder, where each rank is a pytest, share a verdict: the first to notice gives it.
    `stuck` is called with a hang that keeps this very process from going on.
    """

    def __init__(
        self,
        rings: Path,
        root: int,
        seconds: float | None,
        wishes: Wishes,
        say: Callable[[str], None],
        stuck: Callable[[Hang], None],
    ) -> None:
        self._rings, self._root, self._seconds, self._wishes, self._say = rings, root, seconds, wishes, say
        self._stuck = stuck
        self._own, self._shared = os.getpid(), root != os.getpid()
        self._lock = threading.Lock()
        self._name, self._began = "", 0.0
        self._hang: Hang | None = None
        self._stopped_at: float | None = None
        self._forget()
        (rings / f"pytest-{self._own}").touch()
        threading.Thread(target=self._run, name="raf-watch", daemon=True).start()

    def begin(self, name: str) -> None:
        """A test of this name begins. What is left of earlier ones is taken away."""
        with self._lock:
            if not self._shared:
                for one in look(self._rings):
                    if not one.lives:
                        one.path.unlink(missing_ok=True)
            self._forget()
            self._name, self._began = name, time.monotonic()

    def end(self) -> Hang | None:
        """The test is over, or a part of it: its hang, if it hung, told once."""
        with self._lock:
            found, self._hang, self._stopped_at = self._hang, None, None
            return found

    def rest(self) -> None:
        """No test runs."""
        with self._lock:
            self._name = ""

    def _forget(self) -> None:
        self._stall = Stall(time.monotonic(), self._seconds)
        self._seen: list[Seen] = []
        self._without: list[Seen] = []
        self._searched, self._looks = 0.0, 0
        self._before = {one.path: one.calls for one in look(self._rings) if one.pid == self._own}

    def _run(self) -> None:
        while True:
            time.sleep(POLL_S)
            try:
                with self._lock:
                    if self._name and time.monotonic() - self._began > SHORT_S:
                        self._look_round()
            except Exception as error:  # whatever it is, the test is not to suffer from it
                self._say(f"watching failed: {type(error).__name__}: {error}")

    def _look_round(self) -> None:
        now = time.monotonic()
        if self._shared and (told := self._told()) is not None:
            self._stuck(told)
        if self._shared and (self._rings / _CLAIM).exists():
            # What we did meanwhile would look like the rank's own work.
            return
        if self._stopped_at is not None:
            if self._hang is not None and now - self._stopped_at > UNTIL_STUCK_S:
                self._stuck(self._hang)
            return
        self._seen = with_stops(self._ranks(), self._seen, time.time())
        if self._stall.feed(now, self._seen):
            self._judge()

    def _ranks(self) -> list[Seen]:
        recorded = look(self._rings)
        # A test can make a group in this process, and the next one start ranks of its own, or none at all.
        moved = [one for one in recorded if one.pid != self._own or self._before.get(one.path) != one.calls]
        recorded = moved or (recorded if self._shared else [])
        if time.monotonic() - self._searched > SEARCH_S:
            self._searched = time.monotonic()
            below = {pid: processes.environment(pid) for pid in processes.descendants(self._root)}
            self._without = unrecorded(below, ())
        known = {one.rank for one in recorded}
        living = [
            one._replace(lives=processes.alive(one.pid, one.started))
            for one in self._without
            if one.rank not in known
        ]
        return recorded + [one for one in living if one.lives]

    def _judge(self) -> None:
        if self._shared and not self._claims():
            self._stall.undecided()
            return
        self._looks += 1
        idle = not any(one.lives and one.open for one in self._seen)
        wishes = replace(self._wishes, out=self._wishes.out / self._name if self._wishes.out else None)
        case = Case(wishes, self._say, list, Path(os.devnull), dict(os.environ))
        folder = case.of_stall(lambda: (self._ranks(), {}), True)
        answer = case.judge(folder)
        if self._stall.feed(time.monotonic(), self._ranks()) or not self._stall.told:
            hang: bool | None = False
        else:
            hang = answer.is_hang
        # Where nothing tells why, it is given twice the time, and stopped then.
        if hang or (hang is None and not idle and self._looks > 1):
            self._hang = Hang(answer.card, str(folder))
            self._stop()
            return
        shutil.rmtree(folder, ignore_errors=True)
        if self._shared:
            (self._rings / _CLAIM).unlink(missing_ok=True)
        self._stall.undecided()

    def _stop(self) -> None:
        """End the ranks that are no pytest; those that are end themselves, and so do we where nothing else is left."""
        assert self._hang is not None
        if self._shared:
            new = self._rings / f"{_VERDICT}.new"
            new.write_text(json.dumps([self._hang.card, self._hang.case]))
            new.rename(self._rings / _VERDICT)
        tests = {int(one.name.rpartition("-")[2]) for one in self._rings.glob("pytest-*")}
        ranks = [one for one in self._seen if one.lives and one.pid not in tests]
        for number, patience in ((signal.SIGTERM, END_S), (signal.SIGKILL, 0.0)):
            processes.send((one.pid for one in _living(ranks)), number)
            end = time.monotonic() + patience
            while _living(ranks) and time.monotonic() < end:
                time.sleep(0.05)
        self._stopped_at = time.monotonic()
        if not ranks:
            self._stuck(self._hang)

    def _claims(self) -> bool:
        """Whether it is us who look; the others wait for what comes of it."""
        try:
            os.close(os.open(self._rings / _CLAIM, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def _told(self) -> Hang | None:
        with contextlib.suppress(OSError, ValueError, TypeError):
            return Hang(*json.loads((self._rings / _VERDICT).read_text()))
        return None


def _living(ranks: Sequence[Seen]) -> list[Seen]:
    return [one for one in ranks if processes.alive(one.pid, one.started)]
