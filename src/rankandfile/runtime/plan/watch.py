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
from rankandfile.runtime.plan.judge import Post
from rankandfile.runtime.plan.memory import Novelty

if TYPE_CHECKING:
    from rankandfile.runtime.plan.calls import Call
    from rankandfile.runtime.plan.gate import Gate, Group

#: Between two questions to the store, and a rank's share: one server answers them all.
EVERY_S, PER_RANK_S = 0.05, 0.0005
#: Who stays in a call so long is said to wait in it.
WAITS_S = 0.3
#: Between two looks for ranks that wait for each other in a circle.
CIRCLE_S = 0.4
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
        self._stands: Call | None = None
        self._circle: tuple[tuple[int, str, int], ...] = ()
        self._looked = 0.0
        self._ended: dict[int, dict[str, Any]] = {}
        self._missed: dict[tuple[str, int], float] = {}

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="raf-plan", daemon=True)
        self._thread.start()

    @property
    def lives(self) -> bool:
        return self._thread.is_alive()

    def join(self) -> None:
        if self._thread is not threading.current_thread():
            self._thread.join(JOIN_S)

    def _run(self) -> None:
        pause = max(EVERY_S, PER_RANK_S * len(self._board.world.ranks))
        while self._gate.board is self._board and os.getpid() == self._gate.pid:
            try:
                self._look()
            except RuntimeError:  # no store, no plan
                return
            if self._gate.breach is not None:
                self._end()
                return
            time.sleep(pause)

    def _look(self) -> None:
        for item in self._board.news():
            if item["kind"] == "ask":
                self._gate.answer(item["group"], item["number"])
            elif item["kind"] == "breach":
                self._gate.hear(item["text"])
            elif item["kind"] == "end" and item["rank"] != self._board.world.me:
                self._ended[item["rank"]] = item
        self._say_where()
        if self._ended:
            for group in list(self._gate.groups.values()):
                self._compare_with_ended(group)

    def _say_where(self) -> None:
        """Others are told of a wait, once, and of its end; and who waits looks whether others wait for it in turn."""
        at = self._gate.standing
        if at is None or not at.waits or not at.call.waits_for or time.monotonic() - at.since < WAITS_S:
            if self._stands is not None:
                self._stands, self._circle = None, ()
                self._board.stand(None)
            return
        if self._stands is not at.call:
            self._stands, self._circle = at.call, ()
            post = Post(
                self._board.world.me, at.call.words, at.call.contract, at.call.way.digest,
                at.novelty.value, False, at.label, at.call.at,
            )  # fmt: skip
            counts = dict(self._gate.counts)
            told = {"group": at.call.group, "number": at.call.number, "for": at.call.waits_for}
            self._board.stand({**told, "counts": counts, "post": vars(post)})
        now = time.monotonic()
        if now - self._looked > CIRCLE_S:
            self._looked = now
            self._look_for_circle()

    def _look_for_circle(self) -> None:
        """The same twice, as what a rank waits in is told by a thread that may come late to it."""
        standing = self._board.standing(self._board.world.ranks)
        waits = {
            rank: tuple(
                other
                for other in at["for"]
                # Who has made the call is not waited for.
                if other not in standing or standing[other]["counts"].get(at["group"], 0) < at["number"]
            )
            for rank, at in standing.items()
        }
        ranks = judge.cycle(self._board.world.me, waits)
        circle = tuple((rank, standing[rank]["group"], standing[rank]["number"]) for rank in ranks)
        if circle and circle == self._circle:
            posts = {rank: Post(**standing[rank]["post"]) for rank in ranks}
            head = "the ranks wait for each other in different calls"
            self._gate.settle(posts[ranks[0]].group, judge.ruling(posts, head))
        self._circle = circle

    def _compare_with_ended(self, group: Group) -> None:
        """A call that an ended rank never made and never will: whose fault is it?"""
        behind = {
            rank: int(item["counts"].get(group.ident, 0))
            for rank, item in self._ended.items()
            if rank in group.ranks
        }
        number = min(behind.values(), default=group.count) + 1
        if number > group.count:
            return
        begun = self._missed.setdefault((group.ident, number), time.monotonic())
        self._gate.answer(group.ident, number)
        posts = self._board.posts(group.ident, number, group.ranks)
        gone = {rank: self._ended[rank] for rank, count in behind.items() if count < number}
        for rank, item in gone.items():
            posts[rank] = Post(rank, item["words"], -1, -1, Novelty.NEW.value, False, group.label, item["at"])
        if len(posts) < len(group.ranks) and time.monotonic() - begun < ANSWERS_S:
            return
        failed = tuple(sorted(rank for rank, item in gone.items() if item["failed"]))
        head = f"call {number} on {group.label}: not all ranks come to it any more"
        self._gate.settle(group.label, judge.ruling(posts, head, failed))

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
