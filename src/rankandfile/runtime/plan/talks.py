"""Ranks compare their calls of one number: each puts up its own, and the last one says whether they belong together."""

from __future__ import annotations

import json
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from rankandfile.runtime.plan import arms, judge
from rankandfile.runtime.plan.board import Board
from rankandfile.runtime.plan.calls import Call
from rankandfile.runtime.plan.judge import Ruling
from rankandfile.runtime.plan.series import Series

if TYPE_CHECKING:
    from rankandfile.runtime.plan.gate import Gate

#: A rank that is asked about waits so long for the others' word; then it goes on, and is compared when they come.
PATIENCE_S = 5.0
_PAUSE_S = 0.005


class Talks:
    def __init__(self, gate: Gate, board: Board) -> None:
        self._gate, self._board = gate, board
        self._lock = threading.Lock()

    def confirm(self, series: Series, call: Call) -> None:
        """Come back once all members have said that they make this call; raises where one does not."""
        board, gate = self._board, self._gate
        began = time.monotonic()
        self.post(series, call)
        while not (outcome := board.outcome(series.ident, call.number)):
            gate.raise_if_left()
            now = time.monotonic()
            if now - began > PATIENCE_S:
                return
            time.sleep(min((now - began) / 4 + 0.0002, _PAUSE_S))
        if outcome == "breach":
            gate.hear(board.how_it_was_left())
            gate.raise_if_left()
        if outcome == "mixed":
            series.mixed.add(call.request.way.digest)
        if series.me == series.ranks[0]:
            if series.settled:
                board.clear(series.ident, series.settled, series.ranks)
            series.settled = call.number

    def post(self, series: Series, call: Call) -> None:
        """Put up what this rank does at that number; the last one to do so compares."""
        board, number = self._board, call.number
        with self._lock:
            if number in series.posted or series.silent:
                return
            series.posted.add(number)
        count = board.post(series.ident, number, series.post_of(call))
        if count == 1:
            board.tell("ask", series=series.ident, number=number, ranks=series.ranks)
        if count < len(series.ranks):
            return
        posts = board.posts(series.ident, number, series.ranks)
        way = call.request.way
        alternative = partial(arms.alternatives, way.frames, way.files)
        wrong = judge.compare(posts, series.title.format(number), alternative)
        if wrong is not None:
            self.settle(series.label, wrong)
        if series.messages:
            board.clear(series.ident, number, series.ranks)  # nobody waits for what comes of it
        else:
            words = "breach" if wrong else "one" if judge.together(posts, alternative) else "mixed"
            board.settle(series.ident, number, words)

    def settle(self, label: str, wrong: Ruling) -> None:
        """The plan is left: tell everybody."""
        told = {"message": wrong.message, "odd": wrong.odd, "values": wrong.values, "group": label}
        self._gate.hear(self._board.breach(json.dumps(told)))
