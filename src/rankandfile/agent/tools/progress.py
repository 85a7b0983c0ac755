"""Rank-aligned progress: how far each rank came in each group, ranks that came equally far as one line."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import groups_of
from rankandfile.agent.result import Line, line, who
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.model.progress import progress as progress_table
from rankandfile.reason import lookup as look

_ALIKE = ["group", "kind", "last_enqueued", "last_completed", "oldest_unfinished"]


class Progress(Arguments, frozen=True):
    group: str | None = None
    """Only this group, by name, description or number."""


def progress(bench: Bench, asked: Progress) -> Iterator[Line]:
    """How far each rank came in each group: last call enqueued and completed, oldest unfinished. Ranks that came
    equally far are one line; groups that are stuck come first."""
    table = progress_table(bench.case)
    if asked.group is not None:
        table = table.filter(pl.col("group").is_in(groups_of(bench.case, asked.group)))
    alike = table.group_by(_ALIKE, maintain_order=True).agg(pl.col("rank").sort(), pl.len().alias("size"))
    per_group = alike.with_columns(
        pl.len().over("group", "kind").alias("cohorts"),
        pl.col("oldest_unfinished").is_not_null().any().over("group", "kind").alias("stuck"),
    )
    # Groups with a call that did not end first, and of these the ones whose ranks came differently far.
    order = per_group.sort(
        "stuck", "cohorts", "group", "kind", "size", descending=[True, True, False, False, True]
    )
    for row in order.iter_rows(named=True):
        ranks = row["rank"]
        oldest = row["oldest_unfinished"]
        stands = "all that it kept has ended" if oldest is None else f"oldest unfinished #{oldest}"
        kind = " sends and receives" if row["kind"] == "p2p" else ""
        yield line(
            f"group {look.group_words(bench.facts, row['group'])}{kind}: {who(ranks)}: "
            f"last enqueued {_number(row['last_enqueued'])}, last completed {_number(row['last_completed'])}, {stands}",
            *look.standing_evidence(bench.facts, ranks[0], row["group"]),
        )


def _number(value: int | None) -> str:
    return "none" if value is None else f"#{value}"


ORDER = 20
TOOL = Tool(progress, Progress)
