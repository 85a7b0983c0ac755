"""Stacks that go through torch's Join, in which ranks that have a batch left call those that have none."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.column import Row
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.waits.graph import Pending

_JOIN = "torch/distributed/algorithms/join.py"


def _answering_stacks(case: Case) -> pl.Series:
    """The stacks with a frame of it, of who has no batch left, and not of who says it has."""
    of_join = pl.col("file").cast(pl.String).str.ends_with(_JOIN)
    frames = case.frames.filter(of_join & (pl.col("function") != "notify_join_context"))["frame"]
    if frames.is_empty():
        return case.stacks["stack"].clear()
    through = pl.col("frames").list.eval(pl.element().is_in(frames.implode())).list.any()
    return case.stacks.filter(through)["stack"]


class Unanswered(NamedTuple):
    """A call that ranks with a batch left made and that Join does not know."""

    ended: tuple[int, ...]
    others: tuple[int, ...]
    answer: Row
    due: Row


def unanswered(facts: WaitFacts, call: Pending) -> Unanswered | None:
    """Who has no batch left answers the others' calls from Join: all others that came made one thing there, and all
    that answer another."""
    stacks = _answering_stacks(facts.case)
    if stacks.is_empty():
        return None
    there = facts.call_table.of_group(call.group).filter(pl.col("slot") == call.slot)
    ended = there.filter(pl.col("stack").is_in(stacks.implode()))
    others = there.filter(~pl.col("rank").is_in(ended["rank"].implode()))
    if (
        ended["terms"].n_unique() != 1
        or others["terms"].n_unique() != 1
        or {*ended["terms"]} & {*others["terms"]}
    ):
        return None
    return Unanswered(
        ended=tuple(sorted(ended["rank"].to_list())),
        others=tuple(sorted(others["rank"].to_list())),
        answer=ended.row(0, named=True),
        due=others.row(0, named=True),
    )
