"""The ranks that a piece of evidence speaks of, and those that did exactly the same: cohorts have one witness."""

from __future__ import annotations

import re

import polars as pl

from .bench import Bench
from .choose import NUMBER

_CALL = re.compile(r"D(\d+)#(-?\d+)$")
_GROUP = re.compile(r"D(\d+)@(\d+)$")
_DUMP = re.compile(r"D(\d+)$")
_PLACE = re.compile(r"([LS])(\d+):(\d+)$")
_END = re.compile(r"X\d+$")
_SAME = ("group", "op", "is_p2p", "shape", "root", "state", "site")


def ranks_of_evidence(bench: Bench, one: str) -> set[int]:
    if match := _CALL.match(one):
        return _of_call(bench, int(match[1]), int(match[2]))
    if match := _GROUP.match(one):
        return _of_standing(bench, int(match[1]), int(match[2]))
    if match := _DUMP.match(one):
        dumps = bench.case.dumps
        return _ranks(dumps.filter(pl.col("dump") == int(match[1])))
    if match := _PLACE.match(one):
        return _of_line(bench, match[1], int(match[2]), int(match[3]))
    if _END.match(one):
        return _of_end(bench, one)
    return set()


def _ranks(rows: pl.DataFrame) -> set[int]:
    return set(rows["rank"].drop_nulls().to_list())


def _of_call(bench: Bench, dump: int, record: int) -> set[int]:
    calls = bench.case.calls
    rows = calls.filter((pl.col("dump") == dump) & (pl.col("record") == record)).with_columns(
        NUMBER.alias("n")
    )
    if not rows.height:
        return set()
    row = rows.row(0, named=True)
    same = NUMBER.eq_missing(row["n"])
    for column in _SAME:
        same &= pl.col(column).eq_missing(pl.lit(row[column], dtype=calls.schema[column]))
    peers = {rank for rank in (row["src"], row["dst"]) if rank is not None} if row["is_p2p"] else set()
    return _ranks(calls.filter(same)) | peers


def _of_standing(bench: Bench, dump: int, group: int) -> set[int]:
    """The dump's rank, and those that came equally far in the group."""
    dumps = bench.case.dumps
    own = _ranks(dumps.filter(pl.col("dump") == dump))
    table = bench.facts.progress.filter(pl.col("group") == group)
    mine = table.filter(pl.col("rank").is_in(list(own)))
    alike = table.join(
        mine.select("last", "completed", "open_slot"),
        on=["last", "completed", "open_slot"],
        how="semi",
        nulls_equal=True,
    )
    return own | _ranks(alike)


def _of_line(bench: Bench, kind: str, number: int, at: int) -> set[int]:
    case = bench.case
    if kind == "S":
        row = case.snapshots.filter((pl.col("file") == number) & (pl.col("line") == at))
        return _ranks(row) | _ranks(case.snapshots.join(row.select("stack"), on="stack", how="semi"))
    row = case.events.filter((pl.col("log") == number) & (pl.col("line") == at))
    told = {
        r
        for ranks, scope in row.select("about", "about_in").iter_rows()
        if scope == "global"
        for r in ranks or ()
    }
    # Of one kind, and worded alike but for the numbers.
    worded = pl.col("text").str.replace_all(r"\d+", "#").alias("worded")
    alike = case.events.with_columns(worded).join(
        row.with_columns(worded).select("kind", "worded"), on=["kind", "worded"], how="semi"
    )
    return _ranks(row) | told | _ranks(alike)


def _of_end(bench: Bench, one: str) -> set[int]:
    exits = bench.case.exits
    row = exits.filter(pl.col("evidence") == one)
    how = ["state", "signal", "exit_code", "error"]
    return _ranks(exits.join(row.select(how), on=how, how="semi", nulls_equal=True))
