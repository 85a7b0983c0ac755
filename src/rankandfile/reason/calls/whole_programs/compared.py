"""The programs of all ranks, each compared with those of the ranks beside it, and with its own past."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Struct

from rankandfile.reason.calls.call_table import BATCH, MEMBER, CallTable
from rankandfile.reason.divergence.alignment import Tokens
from rankandfile.reason.divergence.track_difference import track_difference

from .one_program import Program, ProgramDivergence, call_at, common_start
from .own_past import against_past

Alike = Literal["began", "overlap"]

_MATES = 12
_NEAR = 4
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Programs(Struct, frozen=True, dict=True):
    """Every rank's program, read when it is asked for, and kept."""

    call_table: CallTable
    families: dict[int, int]
    threads: frozenset[int] = frozenset()
    """Stacks of calls that threads made which Python began."""

    @cached_property
    def _by_rank(self) -> dict[tuple[int, bool], Program]:
        return {}

    @cached_property
    def _families(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
        groups = np.array(sorted(self.families), np.uint32)
        return groups, np.array([self.families[int(g)] for g in groups], np.uint64)

    def of(self, rank: int, threads: bool = True) -> Program:
        """`threads`: with the calls of threads that Python began."""
        if (rank, threads) not in self._by_rank:
            # Of a batch of transfers its members count, which have peers; of one of collectives the call that closes
            # it, which has a number.
            left_out = (pl.col("kind") == BATCH) | ((pl.col("kind") == MEMBER) & ~pl.col("is_p2p"))
            calls = self.call_table.of_rank(rank).filter(~left_out)
            if not threads:
                calls = calls.filter(~self._in_a_thread)
            groups, families = self._families
            family = families[np.searchsorted(groups, calls["group"].to_numpy())]
            sends = (calls["src"] == rank).fill_null(False).to_numpy().astype(np.uint64)
            by_line = pl.col("terms").cast(pl.UInt64) * (1 << 32) + (
                pl.col("site").cast(pl.UInt64) + 1
            ).fill_null(0)
            kinds = calls["token"].to_numpy(), calls.select(by_line.alias("line"))["line"].to_numpy()
            with np.errstate(over="ignore"):
                tokens, lines = ((kind * np.uint64(2) + sends) * _ODD + family for kind in kinds)
            self._by_rank[rank, threads] = Program(
                rank,
                tokens,
                lines,
                calls["terms"].to_numpy().astype(np.int64),
                calls["record"].to_numpy(),
                family,
                calls.select(pl.when(~pl.col("cut")).then("slot").fill_null(-1))["slot"].to_numpy(),
            )
        return self._by_rank[rank, threads]

    @property
    def _in_a_thread(self) -> pl.Expr:
        return pl.col("stack").is_in(list(self.threads)).fill_null(False)

    def against(self, rank: int, mate: int) -> ProgramDivergence | None:
        """How the rank's program diverges from the mate's, from the first collective that both kept."""
        if (rank, mate) not in self._compared:
            self._compared[rank, mate] = self._compare(rank, mate)
        return self._compared[rank, mate]

    def due(self, rank: int, mate: int) -> tuple[int, int] | None:
        """(mate, record) of the call that the mate made next, if all that the rank has made the mate made too."""
        ours, theirs = self.of(mate), self.of(rank)
        starts = common_start(ours, theirs)
        if starts is None or self.against(rank, mate) is not None:
            return None
        return call_at(ours, starts[0] + len(theirs.tokens) - starts[1])

    @cached_property
    def _compared(self) -> dict[tuple[int, int], ProgramDivergence | None]:
        return {}

    def _compare(self, rank: int, mate: int) -> ProgramDivergence | None:
        found = self._compare_programs(rank, mate)
        if found is None or not self._came_by_chance(found):
            return found
        return self._compare_programs(rank, mate, threads=False)

    def _came_by_chance(self, found: ProgramDivergence) -> bool:
        """Whether it is a thread's call that came before or behind one of the program itself, and both have ended."""
        if not self.threads:
            return False
        rows = [
            self.call_table.of_rank(call[0])
            .filter(record=call[1])
            .select("open", self._in_a_thread.alias("thread"))
            .row(0)
            for call in (found.expected, found.came)
            if call is not None
        ]
        return len({thread for _, thread in rows}) > 1 and not any(still_open for still_open, _ in rows)

    def _compare_programs(self, rank: int, mate: int, threads: bool = True) -> ProgramDivergence | None:
        ours, theirs = self.of(mate, threads), self.of(rank, threads)
        starts = common_start(ours, theirs)
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
        return ProgramDivergence(rank, found, call_at(ours, expected), call_at(theirs, came), "peers")

    def against_past(self, rank: int) -> ProgramDivergence | None:
        """How the rank's last step diverges from its own earlier ones."""
        return against_past(self.of(rank))

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
        starts = common_start(ours, theirs)
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


def _overlap(one: Tokens, other: Tokens) -> bool:
    """Whether nine of ten calls of either have their like among the other's."""
    kinds, number = np.unique(np.concatenate([one, other]), return_inverse=True)
    mine = np.bincount(number[: len(one)], minlength=len(kinds))
    theirs = np.bincount(number[len(one) :], minlength=len(kinds))
    return bool(10 * np.minimum(mine, theirs).sum() >= 9 * max(len(one), len(other)) > 0)
