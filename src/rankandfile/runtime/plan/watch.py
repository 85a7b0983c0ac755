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
    from rankandfile.runtime.plan.gate import Gate, Group

#: Between two questions to the store, and a rank's share: one server answers them all.
EVERY_S, PER_RANK_S = 0.05, 0.0005
#: Who stays in a call so long is said to wait in it.
WAITS_S = 0.3
#: For members to say what they did at the number that an ended rank never came to.
ANSWERS_S = 0.5
#: For the main thread to come by and raise; then it waits for what will never be, and is ended.
GRACE_S = 0.4
#: At the end of the process.
JOIN_S = 2.0
#: Exit code of a rank that was ended in the middle of a wait.
ENDED = 86


class Watch:
    def __init__(self, gate: Gate, board: Board) -> None:
        self._gate, self._board = gate, board
        self._stands: int | None = None
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
        """Others are told of a wait, once, and of its end."""
        at = self._gate.standing
        if at is not None and time.monotonic() - at[1] > WAITS_S and at[0].waits_for:
            call = at[0]
            group = self._gate.groups.get(call.group)
            if group is None or self._stands == id(call):
                return
            self._stands = id(call)
            novelty = next((known for past, known in reversed(group.past) if past is call), Novelty.EXPECTED)
            post = vars(self._gate.post_of(group, call, novelty)).copy()
            del post["rank"]
            self._board.stand(
                {"group": call.group, "number": call.number, "for": call.waits_for, "post": post}
            )
        elif self._stands is not None and at is None:
            self._stands = None
            self._board.stand(None)

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
