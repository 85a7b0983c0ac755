"""The calls as every later step reads them: in program order, narrow, and each told what kind of call it is.

A batch is one call: the `coalesced` call that closes it, which alone has a state. Its members are kept apart, for
pairing. A batch of sends and receives takes a number of the group's collectives on the ranks that issue it, and on
no other (torch's own words: "we burn a seq"); `slot` is the number with those taken out, and matches across ranks.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import chain

import numpy as np
import polars as pl
from msgspec import Struct, field

from rankandfile.model.case import Case

from .call_paths import with_paths
from .contracts import Contract, Terms, contract_of, terms
from .kinds import (
    BATCH,
    COLLECTIVE,
    MEMBER,
    TRANSFER,
)
from .unnumbered import with_last_calls

__all__ = ["BATCH", "COLLECTIVE", "MEMBER", "TRANSFER", "CallTable", "read_calls"]

_PROGRAM_ORDER = ("rank", "record")
_BATCH_KEY = ["dump", "group", "is_p2p", "seq", "p2p_seq"]


class CallTable(Struct, frozen=True, dict=True):
    calls: pl.DataFrame
    """rank, group, slot, seq, kind, terms, token, open, state, root, record, dump, created_ns, path, ..."""
    terms: list[Terms]
    """What the number in the column `terms` stands for."""
    unknown_ops: tuple[str, ...]
    loose: frozenset[int]
    """Groups whose collectives cannot be numbered: a ring lost an unknown number of batches."""
    by_state: dict[tuple[int, int], bool] = field(default_factory=dict)
    """(group, rank) of groups whose last call was found by what is unfinished -> whether the rank provably has not
    come to it; those that are in it are left out."""

    def of_rank(self, rank: int) -> pl.DataFrame:
        """The rank's calls; they lie together, so that no other rank's are looked at."""
        start, count = self._spans.get(rank, (0, 0))
        return self.calls.slice(start, count)

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        """Rank -> its first row, and how many rows it has."""
        runs = self.calls["rank"].rle().struct.unnest()
        starts = runs["len"].cum_sum() - runs["len"]
        return dict(zip(runs["value"], zip(starts, runs["len"], strict=True), strict=True))

    def of_group(self, group: int) -> pl.DataFrame:
        """The group's collectives that have a slot."""
        return self.calls.filter((pl.col("group") == group) & pl.col("slot").is_not_null())


def read_calls(case: Case) -> CallTable:
    """From the case's table of calls to calls in program order, with slots, terms and kinds; batches are one call."""
    calls = case.calls.select(
        "rank", "group", "seq", "p2p_seq", "op_id", "op", "is_p2p", "src", "dst", "root", "shape", "state",
        "created_ns", "site", "stack", "timeout_ms", "record", "dump",
    )  # fmt: skip
    if not _in_program_order(calls):
        calls = calls.sort(_PROGRAM_ORDER)
    state = pl.col("state").to_physical()
    calls = calls.with_columns((state <= 1).alias("open"), state.alias("state"))
    promised, ops = _terms(case, calls)
    calls = calls.with_columns(promised)
    calls, interned = _batches(calls, ops)
    calls = _with_cut(case, calls)
    calls, loose = _slots(case, calls)
    by_state: dict[tuple[int, int], bool] = {}
    if loose:
        calls, loose, by_state = with_last_calls(case, calls, interned, loose)
    calls = with_paths(case, calls)
    token = pl.col("terms").cast(pl.UInt64) * (1 << 32) + (pl.col("path").cast(pl.UInt64) + 1).fill_null(0)
    unknown = tuple(sorted({t.op for t in interned if contract_of(t.op).agree == "name"}))
    return CallTable(calls.with_columns(token.alias("token")), interned, unknown, loose, by_state)


def _in_program_order(calls: pl.DataFrame) -> bool:
    if calls.height < 2:
        return True
    rank, record = calls["rank"].to_numpy(), calls["record"].to_numpy()
    same, up = rank[1:] == rank[:-1], rank[1:] > rank[:-1]
    return bool(np.all(up | (same & (record[1:] >= record[:-1]))))


def _terms(case: Case, calls: pl.DataFrame) -> tuple[pl.Series, list[Terms]]:
    """A number per call for what it promised; worked out once per operation and shape, not per call."""
    key = calls.select(
        (pl.col("op").to_physical().cast(pl.UInt64) * (1 << 33) + pl.col("shape").cast(pl.UInt64).fill_null(1 << 32))
        .alias("key"), "op", "shape",
    )  # fmt: skip
    kinds = key.unique("key")
    ops: defaultdict[int | None, list[tuple[int, str]]] = defaultdict(list)
    for row, (op, shape) in enumerate(kinds.select(pl.col("op").cast(pl.String), "shape").iter_rows()):
        ops[shape].append((row, op or ""))
    numbers: dict[Terms, int] = {}
    column = [0] * kinds.height
    # One shape after the other, and its sizes once for all names of an operation: a stranger's dump may have millions.
    for shape in chain(case.shapes.iter_rows(named=True), [None]):
        promised: dict[Contract, Terms] = {}
        of_shape = ops.pop(shape["shape"], []) if shape else chain.from_iterable(ops.values())
        for row, op in of_shape:
            contract = contract_of(op)
            if contract not in promised:
                promised[contract] = terms(op, shape)
            column[row] = numbers.setdefault(promised[contract], len(numbers))
    lookup = pl.DataFrame({"key": kinds["key"], "terms": pl.Series(column, dtype=pl.UInt32)})
    joined = key.select("key").join(lookup, on="key", how="left", maintain_order="left")
    return joined["terms"], list(numbers)


def _closing_ops(calls: pl.DataFrame) -> pl.Series:
    """Operations that close a batch: `coalesced`, `allgather_coalesced`, ..."""
    name = pl.col("op").cast(pl.String).str.to_lowercase()
    return calls.select(pl.col("op").unique()).filter(
        (name == "coalesced") | name.str.ends_with("_coalesced")
    )["op"]


def _with_cut(case: Case, calls: pl.DataFrame) -> pl.DataFrame:
    """Whether what a batch began with may be lost: what is left of it then compares with nothing. The last call of a
    dump cut short may be one of a batch, whose closing one is lost: it does not count as a collective."""
    if "closed_by" not in calls.columns:
        return calls.with_columns(pl.lit(False).alias("cut"))
    by_dump = calls.group_by("dump", maintain_order=True)
    inside = (pl.col("kind") == MEMBER) & ~pl.col("is_p2p")
    closes = (pl.col("kind") == COLLECTIVE) & (pl.col("record") == pl.col("closed_by"))
    begun = by_dump.first().filter((pl.col("record") > 0) & (inside | closes))
    of_batches = calls.filter(inside).select(pl.struct("group", "op")).to_series().implode()
    short = case.dumps_used.filter("truncated")["dump"].implode()
    ended = by_dump.last().filter(
        pl.col("dump").is_in(short)
        & pl.col("closed_by").is_null()
        & pl.struct("group", "op").is_in(of_batches)
    )
    of_last = ["dump", "group", "is_p2p", "seq"]
    cut = pl.struct("dump", "record").is_in(
        begun.select(pl.struct("dump", record="closed_by")).to_series().implode()
    )
    lost = pl.struct(of_last).is_in(ended.select(pl.struct(of_last)).to_series().implode())
    kind = pl.when(lost & (pl.col("kind") == COLLECTIVE)).then(pl.lit(MEMBER, pl.UInt8)).otherwise("kind")
    return calls.with_columns(cut.alias("cut"), kind.alias("kind"))


def _batches(calls: pl.DataFrame, interned: list[Terms]) -> tuple[pl.DataFrame, list[Terms]]:
    """Tell what kind each call is, and give a batch of collectives the terms of all its members."""
    transfer = pl.col("terms").is_in([i for i, t in enumerate(interned) if t.op in ("send", "recv")])
    calls = calls.with_columns(
        pl.when(transfer).then(TRANSFER).otherwise(COLLECTIVE).cast(pl.UInt8).alias("kind")
    )
    closing_ops = _closing_ops(calls)
    if not closing_ops.len():
        return calls, interned
    closes = pl.col("op").is_in(closing_ops.implode()) & (pl.col("kind") == COLLECTIVE)
    closing = (
        calls.filter(closes)
        .select(*_BATCH_KEY, pl.col("record").alias("closed_by"))
        .unique(_BATCH_KEY, keep="first", maintain_order=True)
    )
    calls = calls.join(closing, on=_BATCH_KEY, how="left", nulls_equal=True, maintain_order="left")
    inside = pl.col("closed_by").is_not_null() & (pl.col("record") < pl.col("closed_by"))
    closes_here = pl.col("record") == pl.col("closed_by")
    calls = calls.with_columns(
        pl.when(inside).then(MEMBER)
        .when(closes_here & pl.col("is_p2p")).then(BATCH)
        .otherwise("kind").cast(pl.UInt8).alias("kind"),
        (pl.col("open") & ~inside.fill_null(False)).alias("open"),
    )  # fmt: skip
    return _terms_of_batches(calls, interned)


def _terms_of_batches(calls: pl.DataFrame, interned: list[Terms]) -> tuple[pl.DataFrame, list[Terms]]:
    parts = (
        calls.filter((pl.col("kind") == MEMBER) & ~pl.col("is_p2p"))
        .group_by("dump", "closed_by", maintain_order=True)
        .agg("terms")
    )
    if not parts.height:
        return calls, interned
    numbers = {t: i for i, t in enumerate(interned)}
    combined: dict[tuple[int, ...], int] = {}
    column = []
    for members in parts["terms"]:
        key = tuple(members)
        if key not in combined:
            whole = Terms(
                "coalesced " + interned[key[0]].op,
                tuple(size for i in key for size in interned[i].size),
                tuple(sorted({dtype for i in key for dtype in interned[i].dtype})),
            )
            combined[key] = numbers.setdefault(whole, len(numbers))
        column.append(combined[key])
    whole_terms = parts.select(
        "dump", pl.col("closed_by").alias("record"), pl.Series("whole", column, dtype=pl.UInt32)
    )
    calls = calls.join(whole_terms, on=["dump", "record"], how="left", maintain_order="left")
    return calls.with_columns(pl.coalesce("whole", "terms").alias("terms")).drop("whole"), list(numbers)


def _slots(case: Case, calls: pl.DataFrame) -> tuple[pl.DataFrame, frozenset[int]]:
    """The number that matches across ranks, and the groups where none can be had."""
    collective = pl.col("kind") == COLLECTIVE
    batches = calls.filter(pl.col("kind") == BATCH)
    if not batches.height:
        return calls.with_columns(pl.when(collective).then("seq").alias("slot")), frozenset()
    burned = (pl.col("kind") == BATCH).cast(pl.Int64).cum_sum().over("rank", "group")
    wrapped = case.dumps.filter(pl.col("wrapped").fill_null(False))["rank"].drop_nulls().implode()
    users = calls.filter(pl.col("group").is_in(batches["group"].unique().implode()))
    loose = users.filter(pl.col("rank").is_in(wrapped))["group"].unique()
    slot = pl.when(collective & ~pl.col("group").is_in(loose.implode())).then(pl.col("seq") - burned)
    return calls.with_columns(slot.alias("slot")), frozenset(loose.to_list())
