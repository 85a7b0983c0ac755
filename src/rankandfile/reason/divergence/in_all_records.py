"""What is said of other rounds than the one that parted the ranks, counted over all that was recorded.

The reasoning predicts, and aligns; here calls are only told apart by their paths and counted, rank by rank.
"""

from __future__ import annotations

import polars as pl

from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.words import again_words, ahead_words, ranks_words, verb

from .divergence_point import DivergencePoint


def as_before(facts: Facts, p: DivergencePoint) -> str:
    """`Every earlier all_reduce at fit.py:9 was followed by the call of ranks 0 and 2, on all ranks.`; empty where a
    record says otherwise, or none has it."""
    row = p.expected if p.usual == p.normal else p.came
    if not p.usual or p.slot is None or row is None or row["path"] is None or row["group"] != p.group:
        return ""
    calls = (
        facts.call_table.of_group(p.group)
        .sort("rank", "slot")
        .with_columns(
            pl.col("path").shift(-1).over("rank").alias("next"),
            pl.col("slot").shift(-1).over("rank").alias("next_slot"),
        )
    )
    before = lookup.call_at(facts, row["rank"], p.group, p.slot - 1)
    if before is None or before["site"] is None:
        return ""
    like = calls.filter((pl.col("slot") < p.slot - 1) & (pl.col("site") == before["site"]))
    followed = (pl.col("next_slot") == pl.col("slot") + 1) & (pl.col("next") == row["path"])
    members = set(facts.membership.members.get(p.group, ()))
    if (
        set(like["rank"].unique().to_list()) != members
        or not like.select(followed.fill_null(False).all()).item()
    ):
        return ""
    return (
        f"Every earlier {lookup.call_words(facts, before)} was followed by the call of {ranks_words(p.usual)}, on all "
        "ranks"
    )


def ahead_since(facts: Facts, p: DivergencePoint) -> str:
    """How the calls of who made one too many stand to the others' from there on; empty where the others make it too,
    later: who is ahead then is not who was."""
    its = verb(p.culprits, "its", "their")
    since = (
        f"; from there on {its} calls are {ahead_words(p.length)}.{again_words(p.again, p.length, 'ahead')}"
    )
    return "." if _made_by_others(facts, p) else since


def _made_by_others(facts: Facts, p: DivergencePoint) -> bool:
    if p.came is None or p.came["path"] is None:
        return False
    made = facts.call_table.of_group(p.came["group"]).filter(pl.col("path") == p.came["path"])
    return bool(set(made["rank"].unique().to_list()) - set(p.culprits))
