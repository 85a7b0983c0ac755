"""Ranks of a job that is made up: each has a ring, to which a test writes what it calls."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from rankandfile.runtime.recorder.ring import Ring
from rankandfile.wire import layout

WORLD = 1


class Recorded:
    def __init__(self, folder: Path, rank: int, size: int) -> None:
        self._ring = Ring(folder / f"raf-rank{rank}-attempt0-1-{os.getpid()}-{rank}.ring", capacity=512)
        self._ring.set_rank(rank, size)
        self._rank, self._number = rank, 0
        self._seq: dict[int, int] = {}
        self._shapes: dict[tuple[int, ...], int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self.group(WORLD, "0", "default_pg", range(size))

    def group(self, number: int, name: str, description: str, members: Sequence[int]) -> None:
        if self._rank in members:
            place = list(members).index(self._rank)
            row = [number, name, description, list(members), "gloo", place, len(members)]
            self._ring.add(layout.GROUP, row)

    def call(
        self, *lines: int, op: str = "allreduce_", size: tuple[int, ...] = (4,), root: int = -1, reduction: str = "SUM",
        group: int = WORLD, done: bool = True, ago: float = 0.0,
    ) -> None:  # fmt: skip
        """From these lines of the program, innermost first."""
        if size not in self._shapes:
            self._shapes[size] = len(self._shapes) + 1
            side = [[list(size)], ["Float"]]
            self._ring.add(layout.SHAPE, [self._shapes[size], *side, *side])
        if lines not in self._stacks:
            self._stacks[lines] = len(self._stacks) + 1
            for line in lines:
                self._ring.add(layout.FRAME, [line, f"f{line}", "/home/me/train.py", line])
            self._ring.add(layout.STACK, [self._stacks[lines], lines[0], *lines])
        self._number += 1
        seq = self._seq[group] = self._seq.get(group, 0) + 1
        wall = time.time_ns() - int(ago * 1e9)
        numbers = (
            self._number,
            1,
            wall,
            0,
            4,
            4,
            0,
            seq,
            0,
            seq,
            self._stacks[lines],
            lines[0],
            self._shapes[size],
        )
        reduces = layout.REDUCTIONS.index(reduction) if op in ("allreduce_", "reduce_") else 0
        body = layout.BODY.pack(
            *numbers, group, 1, 0, root, layout.CALL, layout.OPERATORS.index(op), reduces, layout.SYNC
        )
        at = self._ring.put(self._number, body)
        if done:
            self._ring.stamp(at, self._number, layout.DONE_AT, 9)


def job(folder: Path, size: int) -> list[Recorded]:
    return [Recorded(folder, rank, size) for rank in range(size)]
