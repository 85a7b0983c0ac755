"""Beside the job's main thread: answers what others ask, hears of the end of the plan, and ends who cannot hear it."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from rankandfile.runtime.plan import judge
from rankandfile.runtime.plan.board import Board
from rankandfile.runtime.plan.judge import Post, Ruling
from rankandfile.runtime.plan.memory import Novelty

if TYPE_CHECKING:
    from rankandfile.runtime.plan.calls import Call
    from rankandfile.runtime.plan.gate import Gate
    from rankandfile.runtime.plan.series import Series

#: Between two looks at the main thread.
EVERY_S = 0.1
#: Who stays in a call so long is said to wait in it.
WAITS_S = 0.25
#: Between two looks for ranks that wait for each other in a circle; all that wait look at all, at one server.
CIRCLE_S, PER_PAIR_S = 0.4, 5e-5
#: For members to say what they did at the number that an ended rank never came to.
ANSWERS_S = 0.5
#: For the main thread to come by and raise; then it waits for what will never be, and is ended.
GRACE_S = 0.4
#: At the end of the process.
JOIN_S = 10.0
#: Exit code of a rank that was ended in the middle of a wait.
ENDED = 86


class Watch:
    def __init__(self, gate: Gate, board: Board) -> None:
        self._gate, self._board = gate, board
        self._waits: Call | None = None
        self._since = 0.0
        """When the main thread was first seen to wait in it."""
        self._stands: Call | None = None
        """The wait that others were told of."""
        self._circle: tuple[tuple[int, str, int], ...] = ()
        self._looked = 0.0
        self._ended: dict[int, dict[str, Any]] = {}
        self._missed: dict[tuple[str, int], float] = {}

    def start(self) -> None:
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for work, name in ((self._hear, "raf-plan-news"), (self._run, "raf-plan"))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def lives(self) -> bool:
        return self._threads[0].is_alive()

    def join(self) -> None:
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(JOIN_S)

    def _on(self) -> bool:
        return self._gate.board is self._board

    def _hear(self) -> None:
        while self._on() and self._gate.breach is None:
            try:
                for item in self._board.news():
                    self._take(item)
            except RuntimeError:  # no store, no plan
                return

    def _take(self, item: dict[str, Any]) -> None:
        me = self._board.world.me
        if item["kind"] == "ask" and me in item["ranks"]:
            self._gate.answer(item["series"], item["number"])
        elif item["kind"] == "breach":
            self._gate.hear(item["text"])
        elif item["kind"] == "end" and item["rank"] != me:
            self._ended[item["rank"]] = item

    def _run(self) -> None:
        while self._on():
            try:
                self._look()
            except RuntimeError:
                return
            if self._gate.breach is not None:
                self._end()
                return
            time.sleep(EVERY_S)

    def _look(self) -> None:
        if (call := self._gate.standing) is not self._waits:
            self._waits, self._since = call, time.monotonic()
        self._say_where()
        if (lookout := self._gate.lookout) is not None:
            lookout.look()
        if self._ended:
            for series in list(self._gate.series.values()):
                self._compare_with_ended(series)

    def _say_where(self) -> None:
        """Others are told of a wait, once, and of its end; and who waits looks whether others wait for it in turn."""
        call = self._waits
        if call is None or not call.request.waits_for or time.monotonic() - self._since < WAITS_S:
            if self._stands is not None:
                self._stands, self._circle = None, ()
                self._board.stand(None)
            return
        series = self._gate.series.copy()
        if self._stands is not call:
            self._stands, self._circle = call, ()
            told: dict[str, object] = {"series": call.request.series, "number": call.number}
            told |= {"for": call.request.waits_for, "each": call.request.for_all}
            counts = {ident: one.count for ident, one in series.items()}
            threads = [ident for ident, one in series.items() if one.threads]
            post = series[call.request.series].post_of(call)
            self._board.stand({**told, "counts": counts, "threads": threads, "post": vars(post)})
        now = time.monotonic()
        if now - self._looked > max(CIRCLE_S, PER_PAIR_S * len(self._board.world.ranks) ** 2):
            self._looked = now
            self._look_for_circle()

    def _look_for_circle(self) -> None:
        """The same twice, as what a rank waits in is told by a thread that may come late to it."""
        standing = self._board.standing(self._board.world.ranks)
        waits = {
            rank: judge.Wait(
                frozenset(
                    other
                    for other in at["for"]
                    # Who has made the call is not waited for.
                    if other not in standing or _lacks(standing[other], at["series"], at["number"])
                ),
                at["each"],
            )
            for rank, at in standing.items()
        }
        ranks = judge.circle(self._board.world.me, waits)
        circle = tuple((rank, standing[rank]["series"], standing[rank]["number"]) for rank in ranks)
        if circle and circle == self._circle:
            posts = {rank: Post(**standing[rank]["post"]) for rank in ranks}
            head = "the ranks wait for each other in different calls"
            self._settle(posts[ranks[0]].group, judge.ruling(posts, head))
        self._circle = circle

    def _compare_with_ended(self, series: Series) -> None:
        """A call that an ended rank never made and never will: whose fault is it?"""
        behind = {
            rank: int(item["counts"].get(series.ident, 0))
            for rank, item in self._ended.items()
            if rank in series.ranks
        }
        number = min(behind.values(), default=series.count) + 1
        if number > series.count or (series.messages and not self._waits_in(series, number)):
            return
        begun = self._missed.setdefault((series.ident, number), time.monotonic())
        self._gate.answer(series.ident, number)
        posts = self._board.posts(series.ident, number, series.ranks)
        gone = {rank: self._ended[rank] for rank, count in behind.items() if count < number}
        for rank, item in gone.items():
            posts[rank] = Post(
                rank, item["words"], -1, -1, Novelty.NEW.value, False, series.label, item["at"]
            )
        if len(posts) < len(series.ranks) and time.monotonic() - begun < ANSWERS_S:
            return
        failed = tuple(sorted(rank for rank, item in gone.items() if item["failed"]))
        head = f"{series.title.format(number)}: not all ranks come to it any more"
        self._settle(series.label, judge.ruling(posts, head, failed))

    def _waits_in(self, series: Series, number: int) -> bool:
        """A message that is never taken harms nobody who does not wait for it."""
        call = self._waits
        if call is None or time.monotonic() - self._since < WAITS_S:
            return False
        return call.request.series == series.ident and call.number >= number

    def _settle(self, label: str, wrong: Ruling) -> None:
        if self._gate.talks is not None:
            self._gate.talks.settle(label, wrong)

    def _end(self) -> None:
        """The main thread raises where it comes by a call; where it waits in one, nobody can free it."""
        gate = self._gate
        until = time.monotonic() + GRACE_S
        while time.monotonic() < until and not gate.raised:
            time.sleep(EVERY_S)
        if gate.raised:
            return
        for line in f"out of plan: {gate.breach}".splitlines():
            sys.stderr.write(f"raf: {line}\n")
        with contextlib.suppress(Exception):
            gate.all_have_heard()
            sys.stdout.flush()
            sys.stderr.flush()
        if not gate.raised:
            os._exit(ENDED)


def _lacks(standing: dict[str, Any], series: str, number: int) -> bool:
    """A rank that waits has not made the call, and cannot make it in another thread either."""
    return standing["counts"].get(series, 0) < number and series not in standing["threads"]
