"""Calls that are recorded as ended and cannot have succeeded.

gloo tells only that a call is over, not how: a rank whose wait raised, because a peer's connection broke, leaves the
same record as one that got its result. But a collective that needs every member cannot have succeeded where a member,
as its own whole dump shows, never came to it. Such a call counts as unfinished: its rank waited, and gave up.

Dumps of one job are not written at one moment: a member that had not come when its dump was written may have come
later. So its dump must have been written well after the call.
"""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.reason.ranks.dump_times import written_ns

from .call_table import COLLECTIVE, CallTable
from .contracts import contract_of
from .progress import NEVER

_ENDED = 3
_WELL_AFTER_NS = 1_000_000_000


def with_failed_waits(case: Case, call_table: CallTable, standing: pl.DataFrame) -> CallTable:
    """The same calls, with those reopened that ended although a known member never joined."""
    needs_all = [i for i, terms in enumerate(call_table.terms) if contract_of(terms.op).early == "nobody"]
    suspects = call_table.calls.filter(
        (pl.col("kind") == COLLECTIVE) & (pl.col("state") == _ENDED) & pl.col("terms").is_in(needs_all)
    )
    written = case.dumps_used.select("rank", pl.col("written_ns").alias("written"))
    behind = (
        standing.filter(pl.col("known") & (pl.col("last") < pl.col("last").max().over("group")))
        .select("rank", "group", pl.col("last").fill_null(NEVER).alias("came_to"))
        .join(written.drop_nulls(), on="rank")
        .drop("rank")
    )
    if not suspects.height or not behind.height or written_ns(case) is None:
        return call_table
    failed = (
        suspects.join(behind, on="group")
        .filter(
            (pl.col("slot") > pl.col("came_to")) & (pl.col("written") > pl.col("created_ns") + _WELL_AFTER_NS)
        )
        .select("rank", "record", pl.lit(True).alias("failed"))
        .unique()
    )
    if not failed.height:
        return call_table
    calls = call_table.calls.join(failed, on=["rank", "record"], how="left", maintain_order="left")
    reopened = calls.with_columns((pl.col("open") | pl.col("failed").fill_null(False)).alias("open"))
    return replace(call_table, calls=reopened.drop("failed"))
