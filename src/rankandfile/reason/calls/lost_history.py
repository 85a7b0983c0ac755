"""What rings have lost of a group's history: said wherever an answer would need it."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Missing
from rankandfile.reason.words import ranks_words
from rankandfile.recorder_names import BEFORE, RING

from .call_table import COLLECTIVE, CallTable

_HOW = (
    f"a larger ring ({RING} counts calls; {BEFORE}), or dumps that "
    "are written sooner after the job stands still"
)


def lost_words(case: Case, call_table: CallTable, group: int) -> str:
    """'history before seq 52 is lost on ranks 0-3', or nothing where the rings go back to the start."""
    wrapped = case.dumps_used.filter(pl.col("wrapped").fill_null(False))["rank"].drop_nulls()
    calls = call_table.calls.filter(
        (pl.col("group") == group) & (pl.col("kind") == COLLECTIVE) & pl.col("rank").is_in(wrapped.implode())
    )
    firsts = calls.group_by("rank").agg(pl.col("seq").min()).filter(pl.col("seq") > 1)
    if not firsts.height:
        return ""
    seq, ranks = max(firsts["seq"].to_list()), sorted(firsts["rank"].to_list())
    return f"history before seq {seq} is lost on {ranks_words(ranks)}"


def missing_history(case: Case, call_table: CallTable, group: int) -> tuple[Missing, ...]:
    """The calls before what the rings kept, as evidence that would tell where it began."""
    words = lost_words(case, call_table, group)
    return (Missing(what=f"where it began: {words}", how=_HOW),) if words else ()
