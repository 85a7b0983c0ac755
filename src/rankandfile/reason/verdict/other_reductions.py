"""One call that has ended, in which some members asked for a sum and others for a maximum: each got its own numbers.

No library compares how its members reduce, and no call hangs of it. Only a ring records it.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.claims import Differs, Value
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.calls.kinds import COLLECTIVE
from rankandfile.reason.document import cohort, diverged
from rankandfile.reason.facts import Facts
from rankandfile.reason.words import counted, ranks_words

from .finding import Finding

_ONE = ["group", "seq"]


def other_reductions(facts: Facts) -> list[Finding]:
    """At most one: the first such call, and how many more there are."""
    # Of millions of calls there are some dozens of names.
    names = facts.case.calls.select(pl.col("name").unique())
    reduction = pl.col("name").cast(pl.String).str.extract(r" ([A-Z_]+)$").alias("reduction")
    named = names.with_columns(reduction).filter(pl.col("reduction").is_not_null())
    if named["reduction"].n_unique() < 2:
        return []
    told = facts.case.calls.select("dump", "record", "name").join(named, on="name").drop("name")
    ended = facts.call_table.calls.filter((pl.col("kind") == COLLECTIVE) & ~pl.col("open"))
    rows = ended.join(told, on=["dump", "record"])
    # From one place on all of them: of calls that are out of step, others would differ by right.
    mixed = (
        rows.group_by(_ONE)
        .agg(
            pl.col("reduction").n_unique().alias("ways"),
            pl.col("site").n_unique().alias("sites"),
            pl.col("terms").n_unique().alias("asked"),
            pl.col("rank").n_unique().alias("ranks"),
            pl.len().alias("calls"),
        )
        .filter((pl.col("ways") > 1) & (pl.col("sites") == 1) & (pl.col("asked") == 1))
        .filter(pl.col("ranks") == pl.col("calls"))
        .sort(_ONE)
    )
    if not mixed.height:
        return []
    first = mixed.row(0, named=True)
    made = rows.filter((pl.col("group") == first["group"]) & (pl.col("seq") == first["seq"])).sort("rank")
    return [_finding(facts, made, mixed.height - 1)]


def _finding(facts: Facts, made: pl.DataFrame, others: int) -> Finding:
    sides = [
        (way, part["rank"].to_list(), part.row(0, named=True))
        for (way,), part in made.group_by("reduction", maintain_order=True)
    ]
    first = sides[0][2]
    group, at = int(first["group"]), lookup.frame(facts.case, first["site"])
    told = "; ".join(f"{ranks_words(ranks)}: {way}" for way, ranks, _ in sides)
    more = f" So it is in {counted(others, 'later collective')}." if others else ""
    return Finding(
        hang=False,
        cause="different_collective",
        confidence="supported",
        sentence=(
            f"Nothing hangs of it, yet the members of the {lookup.call_words(facts, first)} (group "
            f"{lookup.group_words(facts, group)}, seq {first['seq']}) did not reduce in the same way: {told}. Its "
            f"result is another one on each side.{more}"
        ),
        divergence=diverged(
            facts,
            group,
            seq=first["seq"],
            kind="argument",
            cohorts=[cohort(facts, ranks, row, str(way)) for way, ranks, row in sides],
        ),
        location=lookup.location_of(facts, first),
        evidence=tuple(lookup.evidence_of(row) for _, _, row in sides),
        claims=(
            Differs(
                ranks=format_ranks(made["rank"].to_list()),
                group=lookup.group_words(facts, group),
                seq=first["seq"],
                op=lookup.op_of(facts, first),
                file=at["file"] if at else None,
                line=at["line"] if at else None,
                what="reduction",
                values=[Value(ranks=format_ranks(ranks), value=str(way)) for way, ranks, _ in sides],
                evidence=[lookup.evidence_of(row) for _, _, row in sides],
            ),
        ),
        contradicted_by="a program in which that is meant",
    )
