"""Checks of claims on the way that ranks took: a call left out, made too many, or in another's place; other arguments.

The reasoning aligns whole paths. Here calls are only counted: up to the number in question, whoever left a call out has
made it less often than who made it there.
"""

from __future__ import annotations

import math

import polars as pl

from rankandfile.model.claims import Differs, ExtraCall, LeftOut, OfCall, OtherCall, ranks_of
from rankandfile.model.ranks import parse_ranks

from .raw import Raw, Row


def left_out(raw: Raw, claim: LeftOut) -> set[int]:
    """The claim's call is that of a rank which made it."""
    row, ranks = raw.row(claim), set(ranks_of(claim))
    if row is None or not raw.fits(claim, row):
        return set()
    counts = _counts(raw, claim, row, {row["rank"], *ranks})
    return {rank for rank in ranks if counts.get(rank, 0) < counts.get(row["rank"], 0)}


def extra_call(raw: Raw, claim: ExtraCall) -> set[int]:
    """The claim's call is that of one of its ranks; any member that made it less often will do."""
    row, ranks = raw.row(claim), set(ranks_of(claim))
    if row is None or not raw.fits(claim, row):
        return set()
    members = raw.members(row["group"])
    counts = _counts(raw, claim, row, {*members, *ranks})
    least = min((counts.get(rank, 0) for rank in members - ranks), default=0)
    return {rank for rank in ranks if counts.get(rank, 0) > least}


def other_call(raw: Raw, claim: OtherCall) -> set[int]:
    row, ranks = raw.row(claim), set(ranks_of(claim))
    if row is None:
        return _other_by_log(raw, claim, ranks)
    if not raw.fits(claim, row):
        return set()
    there = raw.at(claim, row)
    made = raw.such(claim, there)
    if not set(there["rank"].to_list()) - set(made["rank"].to_list()):
        return set()
    return set(made["rank"].to_list()) & ranks


def _other_by_log(raw: Raw, claim: OtherCall, ranks: set[int]) -> set[int]:
    """Ranks whose lines name this operation at that number, where those of others name another."""
    if raw.cites_another(claim) or claim.seq is None:
        return set()
    everyone = raw.case.events["rank"].drop_nulls().unique().to_list()
    lines = raw.told(claim, everyone).filter((pl.col("seq") == claim.seq) & pl.col("op").is_not_null())
    told = dict(lines.select("rank", pl.col("op").cast(pl.String)).iter_rows())
    mine = {rank for rank in ranks & told.keys() if raw.names(claim, told[rank])}
    there = raw.at(claim, None).filter(~pl.col("rank").is_in(list(mine)))
    if mine and _other_size(raw, lines, there, mine):
        return mine
    recorded = there["op"].cast(pl.String).unique().to_list()
    return mine if any(not raw.names(claim, op) for op in (*told.values(), *recorded)) else set()


def _other_size(raw: Raw, lines: pl.DataFrame, there: pl.DataFrame, mine: set[int]) -> bool:
    """What these ranks' lines say they asked for is of another size than anything that the others asked for."""
    sizes = dict(lines.filter(pl.col("size_in").is_not_null()).select("rank", "size_in").iter_rows())
    asked = raw.case.shapes.filter(pl.col("shape").is_in(there["shape"].unique().implode()))[
        "in_sizes"
    ].to_list()
    others = {size for rank, size in sizes.items() if rank not in mine}
    others |= {sum(math.prod(tensor) for tensor in tensors) for tensors in asked}
    return bool(others) and mine <= sizes.keys() and not {sizes[rank] for rank in mine} & others


def differs(raw: Raw, claim: Differs) -> set[int]:
    """Of each side's first rank that has the call, the value is another than of every other side's."""
    row, ranks = raw.row(claim), set(ranks_of(claim))
    if row is None or (claim.seq is not None and row["seq"] != claim.seq):
        return set()
    there = raw.at(claim, row)
    values = []
    for side in claim.values:
        own = there.filter(pl.col("rank").is_in(parse_ranks(side.ranks)))
        if not own.height:
            return set()
        # A batch has several records at one number: its value is that of all of them.
        own = own.filter(pl.col("rank") == own["rank"][0]).sort("record")
        parts = [_value(raw, claim, part) for part in own.iter_rows(named=True)]
        values.append(None if None in parts else tuple(parts))
    known = [value for value in values if value is not None]
    return ranks if len(known) == len(values) and len(set(known)) > 1 else set()


def _value(raw: Raw, claim: Differs, row: Row) -> str | None:
    if claim.what == "op":
        return str(row["op"])
    shape = raw.case.shapes.filter(pl.col("shape") == row["shape"])
    if claim.what == "root":
        told = row["root"] if row["root"] is not None else raw.asked_root(row["rank"], str(claim.op))
        # Of a gather, only its root has a place for what comes.
        return str(told if told is not None else bool(shape.height and shape["out_sizes"].to_list()[0]))
    if not shape.height:
        return None
    kind = "sizes" if claim.what == "size" else "dtypes"
    return str([shape[f"in_{kind}"].to_list(), shape[f"out_{kind}"].to_list()])


def _counts(raw: Raw, claim: OfCall, row: Row, ranks: set[int]) -> dict[int, int]:
    """Rank -> how often it made this call of the group, up to its number; from where all of them still tell."""
    rows = raw.of_group(row["group"]).filter(pl.col("rank").is_in(list(ranks)))
    if row["n"] is not None:
        rows = rows.filter(pl.col("n") <= row["n"])
        firsts = rows.group_by("rank").agg(pl.col("n").min())
        low = firsts.filter(pl.col("rank").is_in(list(raw.wrapped)))["n"].max()
        if low is not None:
            rows = rows.filter(pl.col("n") >= low)
    same = raw.such(claim, rows)
    if row["stack"] is not None:
        # Not the line alone: a helper makes calls for everybody.
        same = same.filter(pl.col("stack") == row["stack"])
    return dict(same.group_by("rank").len().iter_rows())
