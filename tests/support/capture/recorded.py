"""Ranks of a job that is made up: each has a ring, to which a test writes what it calls."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from rankandfile.runtime.recorder.ring import Ring
from rankandfile.wire import layout

WORLD = 1
TORCH = "/x/site-packages/torch/distributed/distributed_c10d.py"


class Recorded:
    def __init__(self, folder: Path, rank: int, size: int) -> None:
        self._ring = Ring(folder / f"raf-rank{rank}-attempt0-1-{os.getpid()}-{rank}.ring", capacity=512)
        self._ring.set_rank(rank, size)
        self._rank, self._number = rank, 0
        self.thread = 1
        self._seq: dict[int, int] = {}
        self._shapes: dict[tuple[int, ...], int] = {}
        self._p2p_seq: dict[int, int] = {}
        self._stacks: dict[tuple[tuple[int, ...], tuple[str, ...]], int] = {}
        self.group(WORLD, "0", "default_pg", range(size))

    def group(
        self, number: int, name: str, description: str, members: Sequence[int], turned: bool = False
    ) -> None:
        """`turned`: its first member is the last one that is told."""
        if self._rank in members:
            place = list(members)[:: -1 if turned else 1].index(self._rank)
            row = [number, name, description, list(members), "gloo", place, len(members)]
            self._ring.add(layout.GROUP, row)

    def call(
        self, *lines: int, op: str = "allreduce_", size: tuple[int, ...] = (4,), root: int = -1, reduction: str = "SUM",
        group: int = WORLD, done: bool = True, ago: float = 0.0,
    ) -> None:  # fmt: skip
        """From these lines of the program, innermost first."""
        seq = self._seq[group] = self._seq.get(group, 0) + 1
        reduces = layout.REDUCTIONS.index(reduction) if op in ("allreduce_", "reduce_") else 0
        self._put(op, self._stack(lines), size, root, group, (seq, 0, 0), reduces, layout.SYNC, done, ago)

    def transfer(
        self, op: str, peer: int, line: int = 50, *, size: tuple[int, ...] = (4,), tag: int = 0, group: int = WORLD,
        blocks: bool = True, done: bool = True, ago: float = 0.0,
    ) -> None:  # fmt: skip
        """A send, or a receive (`recv_`; of anybody, `recv_any_source_`); `blocks` as torch's `send` and `recv` do."""
        seq = self._p2p_seq[group] = self._p2p_seq.get(group, 0) + 1
        name = op.split("_")[0]
        stack = self._stack((line,), ("i" + name, name) if blocks else ("i" + name,))
        self._put(op, stack, size, peer, group, (self._seq.get(group, 0), seq, tag), 0, layout.P2P, done, ago)

    def pulse(self, waits: bool, ago: float = 0.0) -> None:
        """A sign of life: in the wait of a work object, or elsewhere."""
        self._number += 1
        wall = time.time_ns() - int(ago * 1e9)
        numbers = (self._number, 1, wall, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, -1)
        body = layout.BODY.pack(*numbers, layout.PULSE, 0, 0, layout.SYNC if waits else 0)
        self._ring.put(self._number, body)

    def beat(self) -> None:
        self._ring.beat()

    def _stack(self, lines: tuple[int, ...], torch: tuple[str, ...] = ()) -> int:
        """Its innermost frames are these functions of torch."""
        if (lines, torch) not in self._stacks:
            self._stacks[lines, torch] = len(self._stacks) + 1
            for line in lines:
                self._ring.add(layout.FRAME, [line, f"f{line}", "/home/me/train.py", line])
            inner = [1000 + 2 * len(self._stacks) + one for one in range(len(torch))]
            for number, name in zip(inner, torch, strict=True):
                self._ring.add(layout.FRAME, [number, name, TORCH, 9])
            self._ring.add(layout.STACK, [self._stacks[lines, torch], lines[0], *inner, *lines])
        return self._stacks[lines, torch]

    def _put(
        self, op: str, stack: int, size: tuple[int, ...], peer: int, group: int, seqs: tuple[int, int, int],
        reduces: int, flags: int, done: bool, ago: float,
    ) -> None:  # fmt: skip
        if size not in self._shapes:
            self._shapes[size] = len(self._shapes) + 1
            side = [[list(size)], ["Float"]]
            self._ring.add(layout.SHAPE, [self._shapes[size], *side, *side])
        self._number += 1
        wall, (seq, p2p_seq, splits) = time.time_ns() - int(ago * 1e9), seqs
        numbers = (self._number, 1, wall, 0, 4, 4, splits, seq, p2p_seq, seq, stack, 1, self._shapes[size])
        body = layout.BODY.pack(
            *numbers, group, self.thread, 0, peer, layout.CALL, layout.OPERATORS.index(op), reduces, flags
        )
        at = self._ring.put(self._number, body)
        if done:
            self._ring.stamp(at, self._number, layout.DONE_AT, 9)


def job(folder: Path, size: int) -> list[Recorded]:
    return [Recorded(folder, rank, size) for rank in range(size)]
