"""Jobs that issue calls in batches, written as torch's recorder keeps them: both generations of it."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from msgspec.structs import replace

from rankandfile.lab.flight_writer_types import Dump, Entry, GroupStatus, Kind
from rankandfile.model.case import Case
from support.evidence.sample_dumps import MILLISECOND, NOW, WORLD, call, frames, with_calls
from support.evidence.sample_dumps import case_of as case_of_dumps

WAITED_NS = 700 * 1_000_000_000
RANKS = 4


class Writer:
    """One rank's calls. `parts`: torch 2.8 and later record the single calls of a batch of collectives."""

    def __init__(self, rank: int, parts: bool = True) -> None:
        self.rank, self.parts = rank, parts
        self.calls: list[tuple[Kind, Entry]] = []
        self._seq = self._p2p = self._op = 0

    def reduce(self, done: bool = True, op: str = "all_reduce", line: int = 20) -> None:
        self._seq += 1
        self._add(op, 8, line, done)

    def gathers(self, done: bool = True, sizes: tuple[int, ...] = (8, 16)) -> None:
        """Several all_gathers as one."""
        self._seq += 1
        for size in sizes if self.parts else ():
            self._add("_all_gather_base", size, 30, False)
        self._add("ALLGATHER_coalesced" if self.parts else "coalesced", 0, 30, done)

    def exchange(self, done: bool = True) -> None:
        """A send to the next rank and a receive from the one before as one: it takes a number of the collectives'."""
        self._seq, self._p2p = self._seq + 1, self._p2p + 1
        after, before = (self.rank + 1) % RANKS, (self.rank - 1) % RANKS
        self._add(f"send {self.rank}->{after}", 8, 40, False, p2p=True)
        self._add(f"recv {self.rank}<-{before}", 8, 40, False, p2p=True)
        self._add("coalesced", 0, 40, done, p2p=True)

    def _add(self, op: str, size: int, line: int, done: bool, p2p: bool = False) -> None:
        self._op += 1
        sizes, dtypes = (((size,),), ("Float",)) if size else ((), ())
        kind = Kind(
            0,
            "0",
            "default_pg",
            f"nccl:{op}",
            sizes,
            dtypes,
            sizes,
            dtypes,
            is_p2p=p2p,
            frames=frames("step", line),
        )
        at = len(self.calls)
        times = (
            {"started_ns": NOW + at * MILLISECOND, "completed_ns": NOW + at * MILLISECOND + 1} if done else {}
        )
        entry = call(at, self._seq, self._p2p, op_id=self._op, retired=done, **times)
        self.calls.append((kind, entry._replace(time_created_ns=NOW + at * MILLISECOND)))

    def dump(self, ring: int | None) -> Dump:
        status = {"0": GroupStatus(self._seq, self._seq, self._seq - 1)}
        return with_calls(Dump([], [], {"0": WORLD}, status, "2.27"), *self.calls[-ring if ring else 0 :])


def case_of(program: Callable[[Writer], None], ring: int | None = None, parts: bool = True) -> Case:
    """Four ranks run the program; their dumps were written long after the last call."""
    dumps = {}
    for rank in range(RANKS):
        writer = Writer(rank, parts)
        program(writer)
        dumps[rank] = writer.dump(ring)
    case = case_of_dumps(dumps)
    written = (pl.lit(NOW + WAITED_NS, pl.Int64) + 3_000_000 * pl.col("rank")).alias("written_ns")
    return replace(case, dumps=case.dumps.with_columns(written))
