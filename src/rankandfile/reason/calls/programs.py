"""The whole program of a rank: its calls on all groups, in order, so that ranks and steps can be compared.

One group's calls do not show that a rank left out its only call of a step there; what it did on other groups in
between does. Groups of a family count as the same group: ranks at the same place in the layout run one program.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from rankandfile.reason.divergence.alignment import Tokens, align
from rankandfile.reason.divergence.cohorts import Track
from rankandfile.reason.divergence.track_difference import TrackDifference, track_difference

from .call_table import BATCH, MEMBER, CallTable
from .rounds import find_loop, in_loop

Alike = Literal["began", "overlap"]

_MATES = 12
_NEAR = 4
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Program:
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


@dataclass(frozen=True)
class ProgramDivergence:
    """Where a rank's program diverges from another's, or from its own earlier steps."""

    rank: int
    difference: TrackDifference
    expected: tuple[int, int] | None
    """(rank, record) of the call that it should have made: another rank's, or its own of the step before."""
    came: tuple[int, int] | None
    """(rank, record) of what it did instead."""
    by: str
    """peers or past."""


@dataclass(frozen=True)
class Programs:
    call_table: CallTable
    families: dict[int, int]

    @cached_property
    def _by_rank(self) -> dict[int, Program]:
        return {}

    @cached_property
    def _families(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
        groups = np.array(sorted(self.families), np.uint32)
        return groups, np.array([self.families[int(g)] for g in groups], np.uint64)

    def of(self, rank: int) -> Program:
        if rank not in self._by_rank:
            # Of a batch of transfers its members count, which have peers; of one of collectives the call that closes
            # it, which has a number.
            left_out = (pl.col("kind") == BATCH) | ((pl.col("kind") == MEMBER) & ~pl.col("is_p2p"))
            calls = self.call_table.of_rank(rank).filter(~left_out)
            groups, families = self._families
            family = families[np.searchsorted(groups, calls["group"].to_numpy())]
            sends = (calls["src"] == rank).fill_null(False).to_numpy().astype(np.uint64)
            by_line = pl.col("terms").cast(pl.UInt64) * (1 << 32) + (
                pl.col("site").cast(pl.UInt64) + 1
            ).fill_null(0)
            kinds = calls["token"].to_numpy(), calls.select(by_line.alias("line"))["line"].to_numpy()
            with np.errstate(over="ignore"):
                tokens, lines = ((kind * np.uint64(2) + sends) * _ODD + family for kind in kinds)
            self._by_rank[rank] = Program(
                rank,
                tokens,
                lines,
                calls["terms"].to_numpy().astype(np.int64),
                calls["record"].to_numpy(),
                family,
                calls.select(pl.when(~pl.col("cut")).then("slot").fill_null(-1))["slot"].to_numpy(),
            )
        return self._by_rank[rank]

    def against(self, rank: int, mate: int) -> ProgramDivergence | None:
        """How the rank's program diverges from the mate's, from the first collective that both kept."""
        if (rank, mate) not in self._compared:
            self._compared[rank, mate] = self._compare(rank, mate)
        return self._compared[rank, mate]

    def due(self, rank: int, mate: int) -> tuple[int, int] | None:
        """(mate, record) of the call that the mate made next, if all that the rank has made the mate made too."""
        ours, theirs = self.of(mate), self.of(rank)
        starts = _common_start(ours, theirs)
        if starts is None or self.against(rank, mate) is not None:
            return None
        return _at(ours, starts[0] + len(theirs.tokens) - starts[1])

    @cached_property
    def _compared(self) -> dict[tuple[int, int], ProgramDivergence | None]:
        return {}

    def _compare(self, rank: int, mate: int) -> ProgramDivergence | None:
        ours, theirs = self.of(mate), self.of(rank)
        starts = _common_start(ours, theirs)
        if starts is None:
            return None
        found = track_difference(ours.track(starts[0]), theirs.track(starts[1]))
        at = starts[1] + found.slot if found is not None else len(theirs.slots)
        transfer = at < len(theirs.slots) and bool(theirs.slots[at] < 0)
        if found is not None and (transfer or not found.confirmed):
            # What it did instead may be what its peers do next, come to another way; and stages of a pipeline come
            # to their transfers by paths of their own.
            again = track_difference(
                ours.track(starts[0], by_line=True), theirs.track(starts[1], by_line=True)
            )
            same = again is not None and again.confirmed and (transfer or again.slot == found.slot)
            found = again if same else found
        if found is None or found.kind == "argument":
            return None
        expected, came = starts[0] + found.slot, starts[1] + found.slot
        return ProgramDivergence(rank, found, _at(ours, expected), _at(theirs, came), "peers")

    def against_past(self, rank: int) -> ProgramDivergence | None:
        """How the rank's last step diverges from its own earlier ones."""
        program = self.of(rank)
        found = self._past(program, program.tokens)
        if found is not None and found.difference.kind == "extra" and not found.difference.confirmed:
            again = self._past(program, program.lines)
            found = again if again is not None and again.came == found.came else found
        return found

    def _past(self, program: Program, tokens: Tokens) -> ProgramDivergence | None:
        first = in_loop(tokens)
        if not first or first == len(tokens):
            return None
        loop = find_loop(tokens[:first])
        assert loop is not None
        step = loop.period
        expected = np.resize(tokens[first - step : first], 2 * step + len(tokens) - first)
        edits = align(expected, tokens[first:])
        if not edits:
            return None
        edit = edits[0]
        at, due = first + edit.b_start, first - step + edit.a_start % step
        after = edits[1].b_start if len(edits) > 1 else len(tokens) - first
        dropped, added = edit.a_stop - edit.a_start, edit.b_stop - edit.b_start
        kind = "substituted" if dropped and added else "skipped" if dropped else "extra"
        if len(edits) > 1 and _reappears(expected, tokens[first:], edit, edits[1]):
            kind = "swapped"
        length = max(dropped, added)
        if kind == "extra" and edit.b_stop == len(tokens) - first:
            # Nothing is seen to follow it. What is due later in the step came too early: what lies between is left out.
            early = _due_later(expected[edit.a_start : edit.a_start + step], tokens[at:])
            kind, length = ("skipped", early) if early else (kind, length)
        difference = TrackDifference(kind, at, True, length, after - edit.b_stop)  # type: ignore[arg-type]
        return ProgramDivergence(program.rank, difference, _at(program, due), _at(program, at), "past")

    def mates(self, rank: int, among: list[int]) -> dict[int, ProgramDivergence | None]:
        """Ranks that ran the same program, and how this one diverges from each."""
        near = sorted((r for r in among if r != rank), key=lambda r: abs(r - rank))
        out: dict[int, ProgramDivergence | None] = {}
        for mate in near[: 8 * _MATES]:
            if len(out) >= _MATES:
                break
            alike = self._alike(rank, mate)
            found = self.against(rank, mate) if alike else None
            if alike and (found is None or (found.difference.exact and self._one_program(alike, found))):
                out[mate] = found
        return out

    def _alike(self, rank: int, mate: int) -> Alike | None:
        """Whether the two ran one program: they asked for the same things throughout the first half of what both kept
        or, where one left a call out before, came by the same paths nearly as often all the time."""
        ours, theirs = self.of(mate), self.of(rank)
        starts = _common_start(ours, theirs)
        if starts is None:
            return None
        half = min(len(ours.terms) - starts[0], len(theirs.terms) - starts[1]) // 2
        one, other = (p.terms[start : start + half] for p, start in zip((ours, theirs), starts, strict=True))
        if np.array_equal(one, other):
            return "began"
        return "overlap" if _overlap(ours.tokens[starts[0] :], theirs.tokens[starts[1] :]) else None

    def _one_program(self, alike: Alike, found: ProgramDivergence) -> bool:
        """Ranks of other stages make as many calls of each kind in another order: no single call sets them right."""
        if alike == "began":
            return True
        kind, after = found.difference.kind, len(self.of(found.rank).tokens) - found.difference.slot
        return kind in ("skipped", "extra") and 2 * found.difference.confirmed >= after

    def diverges(self, rank: int, among: list[int]) -> ProgramDivergence | None:
        """How the rank diverges: from most ranks that run its program or, where none does, from its own past."""
        mates = self.mates(rank, among)
        away = [p for p in mates.values() if p is not None]
        agree = 1 + len(mates) - len(away)
        if len(mates) and len(away) < agree:
            return None
        if len(away) > agree:
            return max(away, key=lambda p: p.difference.confirmed)
        past = self.against_past(rank)
        if past is None or not away or any(_near(past, diverged) for diverged in away):
            return past
        return None


def _near(one: ProgramDivergence, other: ProgramDivergence) -> bool:
    """Both say that it diverged at the same call."""
    return one.came is not None and other.came is not None and abs(one.came[1] - other.came[1]) <= _NEAR


def _common_start(one: Program, other: Program) -> tuple[int, int] | None:
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


def _at(program: Program, index: int) -> tuple[int, int] | None:
    return (program.rank, int(program.records[index])) if 0 <= index < len(program.records) else None


def _overlap(one: Tokens, other: Tokens) -> bool:
    """Whether nine of ten calls of either have their like among the other's."""
    kinds, number = np.unique(np.concatenate([one, other]), return_inverse=True)
    mine = np.bincount(number[: len(one)], minlength=len(kinds))
    theirs = np.bincount(number[len(one) :], minlength=len(kinds))
    return bool(10 * np.minimum(mine, theirs).sum() >= 9 * max(len(one), len(other)) > 0)


def _due_later(expected: Tokens, came: Tokens) -> int:
    """After how many calls these would be due; 0 for those that are not in what is expected."""
    places = range(1, len(expected) - len(came) + 1)
    return next((n for n in places if np.array_equal(expected[n : n + len(came)], came)), 0)


def _reappears(expected: Tokens, came: Tokens, first: object, second: object) -> bool:
    """What the first edit takes away, the second puts back, or the other way round."""
    gone, put = expected[first.a_start : first.a_stop], came[second.b_start : second.b_stop]  # type: ignore[attr-defined]
    early, late = came[first.b_start : first.b_stop], expected[second.a_start : second.a_stop]  # type: ignore[attr-defined]
    return (len(gone) == len(put) > 0 and bool(np.all(gone == put))) or (
        len(early) == len(late) > 0 and bool(np.all(early == late))
    )
