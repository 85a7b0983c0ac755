"""The watchers of a job's nodes among themselves: who is there, who has noticed something, who has handed in what."""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from rankandfile.capture.meet.where_to_meet import MeetingPlace
from rankandfile.capture.meet.whom_to_read import Reader, name_of, names_last_s
from rankandfile.model.ranks import format_ranks

#: Between two beats; who has not beaten for so long is lost; how often everybody is looked at while all is well.
BEAT_S, LOST_S, LOOK_S = 2.0, 12.0, 20.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Word:
    """What a watcher says of its node."""

    ranks: tuple[int, ...] = ()
    host: str = ""
    state: str = "runs"
    """`runs`, or `ended` with the job's exit code on this node."""
    code: int = 0
    beat: int = 0
    answered: int = 0
    """The last alarm for which it has handed in its evidence."""
    at: float = 0.0
    """When this was said, by the clock of its host."""

    @property
    def name(self) -> str:
        """How people call the node."""
        return f"{self.host} (rank{'' if len(self.ranks) == 1 else 's'} {format_ranks(self.ranks)})"


@dataclass
class Member:
    word: Word
    changed: float
    """When its word was seen to be a new one; by our clock."""
    beats: bool = False
    """It has spoken while we listened: no leftover of an earlier attempt."""
    read: float = 0.0
    """When its word was looked at last."""


@dataclass
class Nodes:
    """One watcher's end. A thread of its own speaks and listens: the place may be slow, or go away."""

    meeting_place: Callable[[], MeetingPlace]
    say: Say
    ranks: tuple[int, ...]
    started: float
    """When this watcher began, by the wall clock: what was said before is an earlier attempt's."""

    def __post_init__(self) -> None:
        self.own = name_of(self.ranks, socket.gethostname(), f"{os.getpid()}-{secrets.token_hex(4)}")
        self._reader, self._names, self._named = Reader(self.own), list[str](), -LOOK_S
        self.word = Word(self.ranks, socket.gethostname())
        self.lost = False
        """The meeting place is gone: this node is alone."""
        self.alarm = 0
        """The newest one that was raised while we were here."""
        self.keeper = ""
        """Who raised it to keep the evidence of a job that goes on; empty where it is about a stall."""
        self._place: MeetingPlace | None = None
        self._others: dict[str, Member] = {}
        self._at_first: int | None = None
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._ready = threading.Event()
        self._over = threading.Event()
        self._listening = False
        self._thread = threading.Thread(target=self._run, name="raf-nodes", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._place = self.meeting_place()
            self._place.enrol(self.own)
            self._at_first, _ = self._alarm()
            looked = -LOOK_S
            while not self._over.is_set():
                self._speak()
                self._heed()
                if self._listening or self.called or time.monotonic() - looked > LOOK_S:
                    self._listen()
                    looked = time.monotonic()
                self._ready.set()
                self._hurry.wait(BEAT_S / 2 if self._listening else BEAT_S)
                self._hurry.clear()
        except Exception as error:
            self.lost = True
            self._ready.set()
            if not self._over.is_set():
                why = getattr(error, "strerror", None) or str(error) or type(error).__name__
                self.say(f"the other nodes are out of sight ({why}): this node goes on alone")

    def _speak(self) -> None:
        with self._lock:
            self.word = replace(self.word, beat=self.word.beat + 1, at=time.time())
            self._where.put(f"{self.own}/word", json.dumps(asdict(self.word)).encode())

    def _alarm(self) -> tuple[int, str]:
        """Its number, and who keeps evidence."""
        number, _, keeper = (self._where.get("alarm") or b"0").partition(b" ")
        known = number.isdigit() and len(number) < 10
        return (int(number), keeper.decode("utf-8", "replace")) if known else (0, "")

    def _heed(self) -> None:
        alarm, self.keeper = self._alarm()
        self.alarm = alarm if self._at_first is not None and alarm > self._at_first else 0

    def _listen(self) -> None:
        now = time.monotonic()
        if now - self._named > names_last_s(len(self._names)):
            self._names, self._named = self._where.members(), now
        decides = self._listening or self.called
        names = self._reader.whom(self._names, self._silent, self._ended, decides)
        said = self._where.get_all([f"{name}/word" for name in names])
        for name, data in zip(names, said, strict=True):
            if (word := _read(data)) is None:
                continue
            known = self._others.get(name)
            if known is None:
                self._others[name] = Member(word, now, word.at >= self.started, now)
                continue
            known.read = now
            if known.word != word:
                known.word, known.changed, known.beats = word, now, True

    def _silent(self, name: str) -> bool:
        """Soon after that it is lost: whoever speaks in its place must have read all by then."""
        one = self._others.get(name)
        return one is not None and one.read - one.changed > LOST_S / 2

    def _ended(self, name: str) -> bool:
        one = self._others.get(name)
        return one is not None and one.word.state == "ended"

    @property
    def _where(self) -> MeetingPlace:
        assert self._place is not None
        return self._place

    def others(self) -> dict[str, Word]:
        """Who takes part in this attempt, by what they said last; also those that are lost by now."""
        return {name: one.word for name, one in list(self._others.items()) if one.beats}

    def alive(self, name: str) -> bool:
        """It is there: it speaks."""
        one = self._others.get(name)
        return one is not None and one.beats and time.monotonic() - one.changed < LOST_S

    def answered(self, name: str, alarm: int) -> bool:
        """It has handed in what it has about this alarm, or a later one."""
        word = self.others().get(name)
        return word is not None and word.answered >= alarm

    def first(self, waiting: bool = False) -> str:
        """The lowest node that is there, which speaks for all; with `waiting`, also if its job has ended."""
        there = {
            name: word
            for name, word in self.others().items()
            if self.alive(name) and (waiting or word.state == "runs")
        }
        there[self.own] = self.word
        return min(there, key=lambda name: (there[name].ranks or (1 << 30,), name))

    def speaker(self) -> str:
        """Who keeps the evidence of a job that goes on; about a stall, the lowest node that is there."""
        return self.keeper if self.keeper == self.own or self.alive(self.keeper) else self.first()

    def listen(self, closely: bool) -> None:
        """Closely while there is something to decide."""
        self._listening = closely
        self._hurry.set()

    @property
    def called(self) -> bool:
        """Another node has noticed something, and has no answer from here."""
        return self.alarm > self.word.answered

    def hear(self) -> None:
        """The newest alarm, without waiting for the next beat."""
        with self._guarded():
            self._heed()

    def raise_alarm(self, goes_on: bool = False) -> int:
        """All nodes are to look, or, of a job that goes on, to hand in what they have; two that notice at once mean
        the same. The alarm's number, 0 for nobody there, and where all are to look at a stall already."""
        if self.lost or not self._ready.wait(LOST_S) or self.lost or self._at_first is None:
            return 0
        self.listen(True)
        with self._guarded():
            (raised, keeper), last = self._alarm(), max(self.word.answered, self._at_first)
            if raised > last and goes_on and not keeper:
                return 0
            if raised <= last or (keeper and not goes_on):
                raised, keeper = max(raised, last) + 1, self.own if goes_on else ""
                self._where.put("alarm", f"{raised} {keeper}".rstrip().encode())
            self.alarm, self.keeper = raised, keeper
        return 0 if self.lost else self.alarm

    def hand_in(self, evidence: bytes, alarm: int, state: str = "runs", code: int = 0) -> None:
        with self._guarded():
            self._where.put(f"{self.own}/evidence", evidence)
            with self._lock:
                self.word = replace(self.word, answered=alarm, state=state, code=code)
            self._speak()

    def fetch(self, name: str) -> bytes | None:
        with self._guarded():
            return self._where.get(f"{name}/evidence")
        return None

    def publish(self, about: str, verdict: dict[str, Any]) -> None:
        with self._guarded():
            self._where.put(f"verdict-{about}", json.dumps({**verdict, "by": self.own}).encode())

    def verdict(self, about: str) -> dict[str, Any] | None:
        """What another watcher of this attempt has published."""
        found = None
        with self._guarded(), suppress(ValueError):
            found = json.loads(self._where.get(f"verdict-{about}") or b"null")
        return found if isinstance(found, dict) and found.get("by") in self.others() else None

    def leave(self, nothing_to_tell: bool) -> None:
        self._over.set()
        self._hurry.set()
        self._thread.join(BEAT_S)
        if nothing_to_tell and self._place is not None and not self.lost:
            with self._guarded():
                self._where.remove(self.own)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Whatever the place does not answer any more makes this node one that is alone, and nothing worse."""
        try:
            yield
        except Exception:
            self.lost = True


def _read(data: bytes | None) -> Word | None:
    """What another has written, which may be anything."""
    try:
        found = json.loads(data or b"null")
        word = Word(**{**found, "ranks": tuple(int(rank) for rank in found["ranks"])})
        return word if all(map(_plain, (word.code, word.beat, word.answered))) else None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _plain(value: object) -> bool:
    return type(value) is int and abs(value) < 1 << 40
