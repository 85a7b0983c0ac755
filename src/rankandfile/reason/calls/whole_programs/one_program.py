"""The program of one rank: its calls in order, on all groups, and where it diverges from another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from rankandfile.reason.divergence.alignment import Tokens
from rankandfile.reason.divergence.cohorts import Track
from rankandfile.reason.divergence.track_difference import TrackDifference


class Program(Struct, frozen=True):
    """What one rank called, in order, on all of its groups."""

    rank: int
    tokens: Tokens
    lines: Tokens
    """The same by the innermost line alone: a call that is made from elsewhere is still that call."""
    terms: npt.NDArray[np.int64]
    records: npt.NDArray[np.int64]
    families: npt.NDArray[np.uint64]
    slots: npt.NDArray[np.int64]

    def track(self, start: int, by_line: bool = False) -> Track:
        tokens = self.lines if by_line else self.tokens
        return Track((self.rank,), 0, tokens[start:], self.terms[start:])


class ProgramDivergence(Struct, frozen=True):
    """Where a rank's program diverges from another's, or from its own earlier steps."""

    rank: int
    difference: TrackDifference
    expected: tuple[int, int] | None
    """(rank, record) of the call that it should have made: another rank's, or its own of the step before."""
    came: tuple[int, int] | None
    """(rank, record) of what it did instead."""
    by: str
    """peers or past."""


def common_start(one: Program, other: Program) -> tuple[int, int] | None:
    """The first collective that both kept, on one group or on two of a family: the same place of the program."""
    best: tuple[int, int] | None = None
    for family in np.intersect1d(one.families[one.slots >= 0], other.families[other.slots >= 0]):
        a, b = (np.flatnonzero((p.families == family) & (p.slots >= 0)) for p in (one, other))
        slot = max(one.slots[a[0]], other.slots[b[0]])
        at_a, at_b = a[one.slots[a] == slot], b[other.slots[b] == slot]
        if len(at_a) and len(at_b):
            start = int(at_a[0]), int(at_b[0])
            if best is None or start < best:
                best = start
    return best


def call_at(program: Program, index: int) -> tuple[int, int] | None:
    """(rank, record) of a call by its place in the program; None where it has none there."""
    return (program.rank, int(program.records[index])) if 0 <= index < len(program.records) else None
