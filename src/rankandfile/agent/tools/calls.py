"""Calls, filtered: ranks that made the same call, and got equally far with it, as one line."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import NUMBER, groups_of, numbers_of, ranks_of
from rankandfile.agent.result import Line, line, who
from rankandfile.agent.tool import Arguments, Tool, ToolError
from rankandfile.model.column import Row
from rankandfile.model.ledger import call_id
from rankandfile.model.tables import STATES
from rankandfile.reason import lookup as look

_ALIKE = ["group", "number", "op", "shape", "root", "src", "dst", "state", "site"]


class Calls(Arguments, frozen=True):
    ranks: str | None = None
    """3 or 0-6,8."""
    group: str | None = None
    """By name, description or number."""
    op: str | None = None
    """all_reduce, broadcast, send, ..."""
    seq: str | None = None
    """812 or 800-820."""
    state: str | None = None
    """issued, started, completed or ended."""
    last: bool = False
    """The latest first."""


def calls(bench: Bench, asked: Calls) -> Iterator[Line]:
    """Recorded calls by ranks, group, operation, sequence number and state, with sizes and call sites; ranks that
    made the same call are one line."""
    table = bench.case.calls.with_columns(NUMBER.alias("number"))
    if asked.ranks is not None:
        table = table.filter(pl.col("rank").is_in(ranks_of(asked.ranks)))
    if asked.group is not None:
        table = table.filter(pl.col("group").is_in(groups_of(bench.case, asked.group)))
    if asked.op is not None:
        table = table.filter(pl.col("op").cast(pl.String) == asked.op)
    if asked.seq is not None:
        table = table.filter(pl.col("number").is_in(numbers_of(asked.seq)))
    if asked.state is not None:
        if asked.state not in STATES.categories:
            raise ToolError(f"a state is one of {', '.join(STATES.categories)}")
        table = table.filter(pl.col("state") == asked.state)
    alike = table.group_by(_ALIKE, maintain_order=True).agg(
        pl.col("rank").sort(),
        pl.col("dump").first(),
        pl.col("record").first(),
        pl.col("rank").min().alias("least"),
    )
    alike = alike.sort("group", "number", "least", descending=[False, asked.last, False], maintain_order=True)
    if not alike.height:
        yield line("No recorded call is like that.")
    for row in alike.iter_rows(named=True):
        yield line(_words(bench, row), call_id(row["dump"], row["record"]))


def _words(bench: Bench, row: Row) -> str:
    words = [f"group {look.group_words(bench.facts, row['group'])} #{row['number']} {row['op']}"]
    if row["root"] is not None:
        words.append(f"root {row['root']}")
    if row["src"] is not None or row["dst"] is not None:
        words.append(f"from {row['src']} to {row['dst']}")
    words += [look.size_words(bench.facts, row), row["state"]]
    frame = look.frame(bench.case, row["site"])
    if frame is not None:
        words.append(f"at {frame['file']}:{frame['line']} in {frame['function']}")
    return f"{', '.join(words)}: {who(row['rank'])}"


ORDER = 70
TOOL = Tool(calls, Calls)
