"""Where ranks stand, by their stacks: ranks that stand alike as one."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import ranks_of
from rankandfile.agent.result import Line, line, who
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.model.ledger import call_id
from rankandfile.model.snapshots import stack_id
from rankandfile.reason.ranks.activity import CodePlace, is_library
from rankandfile.reason.ranks.merged_stacks import cohorts_of
from rankandfile.reason.words import upper

_MOST_FRAMES = 24


class Stacks(Arguments, frozen=True):
    ranks: str | None = None
    """3 or 0-6,8."""
    library: bool = False
    """Also frames of torch and other libraries."""


def stacks(bench: Bench, asked: Stacks) -> Iterator[Line]:
    """Where ranks stand, innermost frame first, ranks that stand alike as one: by stacks that were taken, else by the
    calls that did not end."""
    case = bench.case
    wanted = None if asked.ranks is None else ranks_of(asked.ranks)
    rows, taken = _rows(bench, wanted)
    if not rows.height:
        yield line("Nobody took a stack of these ranks, and their unfinished calls have none.")
        return
    yield line(f"By {taken}:")
    for cohort in cohorts_of(rows, case.stacks, case.frames):
        own = rows.filter(pl.col("rank") == cohort.ranks[0]).row(0, named=True)
        cited = call_id(own["dump"], own["record"]) if "record" in own else stack_id(own["file"], own["line"])
        yield line(f"{upper(who(cohort.ranks))}: {cohort.words}.", cited)
        shown = [place for place in cohort.places if asked.library or not is_library(place)]
        for place in shown[:_MOST_FRAMES]:
            yield line(f"    {_frame(place)}")


def _rows(bench: Bench, wanted: list[int] | None) -> tuple[pl.DataFrame, str]:
    chosen = pl.lit(True) if wanted is None else pl.col("rank").is_in(wanted)
    taken = bench.stands.filter(chosen)
    if taken.height:
        return taken.select("rank", "stack", "file", "line"), "the stacks that were taken while it hung"
    calls = bench.facts.call_table.calls.filter(pl.col("open") & pl.col("stack").is_not_null() & chosen)
    oldest = calls.sort("rank", "record").unique("rank", keep="first", maintain_order=True)
    return oldest.select("rank", "stack", "dump", "record"), "where their oldest unfinished calls were made"


def _frame(place: CodePlace) -> str:
    return f"{place.function} ({place.file}:{place.line})"


ORDER = 80
TOOL = Tool(stacks, Stacks)
