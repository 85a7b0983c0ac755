"""Sends and receives: the n-th send from a to b belongs to the n-th receive of b from a.

With whole histories the n is counted from the start. Where a ring lost the start, it is counted from the last
collective that both ranks issued, if the stretch before that collective had as many sends as receives. Otherwise
the pair stays ambiguous, and nothing is concluded from it.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Struct

from rankandfile.model.case import Case

from .call_table import (
    BATCH,
    MEMBER,
    TRANSFER,
    CallTable,
)

Array = npt.NDArray[np.int64]


class Transfer(Struct, frozen=True):
    """An unfinished send or receive at the head of its queue, and whether its other half was issued."""

    rank: int
    peer: int
    group: int
    sends: bool
    record: int
    """Of the call that has the state: the send or receive itself, or the batch it is in."""
    joined: bool | None
    """None: ambiguous, or the peer left no dump that could tell."""
    peer_record: int | None
    """The peer's matching call, where it has one."""
    peer_known: bool
    part: int
    """Of the send or receive itself, also where it is in a batch."""
    peer_part: int | None


class Pairing(Struct, frozen=True):
    heads: tuple[Transfer, ...]
    ambiguous: tuple[tuple[int, int, int], ...]
    """(group, source, destination) that cannot be paired."""


def pair(case: Case, call_table: CallTable) -> Pairing:
    """For each rank's oldest unfinished sends and receives, the other side's call; and those that stay ambiguous."""
    moves = call_table.calls.filter(
        pl.col("kind").is_in([TRANSFER, MEMBER])
        & pl.col("is_p2p")
        & pl.col("src").is_not_null()
        & pl.col("dst").is_not_null()
    )
    if not moves.height:
        return Pairing((), ())
    moves = _with_batch_state(call_table, moves)
    moves = moves.with_columns((pl.col("rank") == pl.col("src")).alias("sends"))
    queues = _Queues(case, call_table, moves)
    heads: list[Transfer] = []
    ambiguous: set[tuple[int, int, int]] = set()
    for row in _heads(moves).iter_rows(named=True):
        transfer = queues.transfer(row)
        if transfer.joined is None and transfer.peer_known:
            ambiguous.add((transfer.group, row["src"], row["dst"]))
        heads.append(transfer)
    return Pairing(tuple(heads), tuple(sorted(ambiguous)))


def _with_batch_state(call_table: CallTable, moves: pl.DataFrame) -> pl.DataFrame:
    """A batched send is unfinished as long as its batch is."""
    if "closed_by" not in moves.columns:
        return moves.with_columns(pl.lit(None, pl.Int64).alias("closed_by"), pl.col("record").alias("at"))
    batches = call_table.calls.filter(pl.col("kind") == BATCH).select(
        "dump", pl.col("record").alias("closed_by"), pl.col("open").alias("batch_open")
    )
    inside = pl.col("kind") == MEMBER
    return moves.join(batches, on=["dump", "closed_by"], how="left", maintain_order="left").with_columns(
        pl.when(inside).then(pl.col("batch_open").fill_null(False)).otherwise("open").alias("open"),
        pl.when(inside).then("closed_by").otherwise("record").alias("at"),
    )


def _heads(moves: pl.DataFrame) -> pl.DataFrame:
    """The oldest unfinished batch per rank and group, and the oldest unfinished transfer per rank and peer.

    Two ranks share one communicator and one stream for their transfers in both directions.
    """
    ends = [pl.min_horizontal("src", "dst").alias("one"), pl.max_horizontal("src", "dst").alias("other")]
    waiting = moves.filter("open").with_columns(ends)
    batched = pl.col("kind") == MEMBER
    oldest = pl.when(batched).then(pl.col("at").min().over("rank", "group", "kind"))
    alone = pl.col("at").min().over("rank", "group", "kind", "one", "other")
    return waiting.filter(pl.col("at") == oldest.otherwise(alone))


class _Queues:
    """All transfers by (group, source, destination, side), and each rank's calls for finding common ground."""

    def __init__(self, case: Case, call_table: CallTable, moves: pl.DataFrame) -> None:
        self._working = call_table
        dumps = case.dumps_used
        self._whole = set(
            dumps.filter(~pl.col("wrapped").fill_null(False) & ~pl.col("truncated").fill_null(False))["rank"]
        )
        self._cut = set(dumps.filter(pl.col("truncated").fill_null(False))["rank"])
        self._seen = set(dumps["rank"].drop_nulls())
        grouped = moves.group_by("group", "src", "dst", "sends", maintain_order=True).agg("record", "at")
        self._by_side = {
            (g, s, d, side): (np.asarray(record), np.asarray(at))
            for g, s, d, side, record, at in grouped.iter_rows()
        }
        self._rows: dict[int, tuple[Array, ...]] = {}
        self._anchors: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)

    def transfer(self, row: dict[str, object]) -> Transfer:
        rank, group, src, dst = (int(row[k]) for k in ("rank", "group", "src", "dst"))  # type: ignore[call-overload]
        sends = bool(row["sends"])
        peer = dst if sends else src
        none = np.empty(0, np.int64)
        mine = self._by_side[group, src, dst, sends]
        theirs = self._by_side.get((group, src, dst, not sends), (none, none))
        index = int(np.flatnonzero(mine[0] == row["record"])[0])
        peer_known = peer in self._seen and peer not in self._cut
        match = self._match(rank, peer, mine[0], theirs[0], index)
        joined: bool | None = None
        peer_record = peer_part = None
        if match is not None and 0 <= match < len(theirs[0]):
            joined, peer_record, peer_part = True, int(theirs[1][match]), int(theirs[0][match])
        elif match is not None and peer_known:
            joined = False
        return Transfer(
            rank, peer, group, sends, int(row["at"]), joined, peer_record,  # type: ignore[call-overload]
            peer_known, int(row["record"]), peer_part,  # type: ignore[call-overload]
        )  # fmt: skip

    def _match(self, rank: int, peer: int, mine: Array, theirs: Array, index: int) -> int | None:
        """The index in the peer's queue, or None where it cannot be told."""
        if rank in self._whole and (peer in self._whole or peer not in self._seen):
            return index
        if peer not in self._seen:
            return None
        for i, (here, there) in enumerate(self._common(rank, peer)[:3]):
            earlier = self._common(rank, peer)[i + 1 : i + 2]
            mine_before, theirs_before = np.searchsorted(mine, here), np.searchsorted(theirs, there)
            if not earlier:
                return None
            mine_stretch = mine_before - np.searchsorted(mine, earlier[0][0])
            theirs_stretch = theirs_before - np.searchsorted(theirs, earlier[0][1])
            if mine_stretch == theirs_stretch:
                return int(theirs_before + index - mine_before)
        return None

    def _common(self, rank: int, peer: int) -> list[tuple[int, int]]:
        """Records, at both ranks, of the last collectives that both issued on the group they share most."""
        key = (rank, peer)
        if key not in self._anchors:
            (g1, s1, r1), (g2, s2, r2) = self._collectives(rank), self._collectives(peer)
            best: list[tuple[int, int]] = []
            for group in sorted(set(np.unique(g1)) & set(np.unique(g2))):
                mine = dict(zip(s1[g1 == group].tolist(), r1[g1 == group].tolist(), strict=True))
                theirs = dict(zip(s2[g2 == group].tolist(), r2[g2 == group].tolist(), strict=True))
                shared = sorted(set(mine) & set(theirs), reverse=True)[:4]
                pairs = [(int(mine[s]), int(theirs[s])) for s in shared]
                if len(pairs) > len(best) or (best and len(pairs) == len(best) and pairs[0] > best[0]):
                    best = pairs
            self._anchors[key] = best
        return self._anchors[key]

    def _collectives(self, rank: int) -> tuple[Array, ...]:
        if rank not in self._rows:
            rows = self._working.of_rank(rank).filter(pl.col("slot").is_not_null())
            self._rows[rank] = (
                rows["group"].to_numpy(), rows["slot"].to_numpy(), rows["record"].to_numpy(),
            )  # fmt: skip
        return self._rows[rank]
