"""Ranks wait, and in calls that cannot be numbered: that is no quiet job, and nobody can be named."""

from __future__ import annotations

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Missing
from rankandfile.reason import lookup
from rankandfile.reason.calls.call_table import COLLECTIVE
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from .patience import much_longer

_MOST = 4


def calls_without_numbers(facts: Facts, idle_ns: int) -> Finding | None:
    """None where no call of a group without numbers is unfinished, or not for long."""
    stuck = facts.call_table.calls.filter(
        pl.col("open") & (pl.col("kind") == COLLECTIVE) & pl.col("group").is_in(list(facts.call_table.loose))
    )
    oldest = stuck.group_by("rank", "group", maintain_order=True).first()
    if not oldest.height or not much_longer(facts, idle_ns):
        return None
    rows = oldest.sort("group", "rank").to_dicts()
    calls: dict[str, list[Row]] = {}
    for row in rows:
        words = f"{lookup.call_words(facts, row)} of group {lookup.group_words(facts, row['group'])}"
        calls.setdefault(words, []).append(row)
    told = "; ".join(
        f"{ranks_words(ranks)} {verb(ranks, 'waits', 'wait')} in the {words}"
        for words, made in list(calls.items())[:_MOST]
        if (ranks := sorted({row["rank"] for row in made}))
    )
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=(
            f"{upper(told)}. Which of these calls belong together cannot be told: batches of sends and receives take "
            "numbers of the group's collectives, and the rings have lost how many there were."
        ),
        victims=tuple(sorted({row["rank"] for row in rows})),
        evidence=tuple(lookup.evidence_of(row) for row in rows[:8]),
        missing=(
            Missing(
                what="the calls that the rings have lost, or where each rank stands",
                how="a larger ring (TORCH_FR_BUFFER_SIZE counts calls); py-spy dump --pid PID on each rank",
            ),
        ),
        unadvised=("anti_advice", "probes"),
    )
