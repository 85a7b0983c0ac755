"""A monitored barrier names the ranks that did not come. It is no recorded call, so only logs tell of it."""

from __future__ import annotations

import polars as pl

from rankandfile.model.events import event_id
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb


@finder(precedence=30, of="job")
def barrier_names_ranks(facts: Facts, _: WaitEnd) -> Finding | None:
    rows = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == "monitored_barrier") & pl.col("about").is_not_null()
    )
    # The line counts ranks in its group. Only where that is the whole job are they the job's.
    mine = rows.filter(
        pl.col("group_rank").is_not_null()
        & (pl.col("rank").is_null() | (pl.col("rank") == pl.col("group_rank")))
    )
    if not mine.height or mine.height < rows.height:
        return None
    named = tuple(sorted({rank for ranks in mine["about"].to_list() for rank in ranks}))
    writers = set(mine["group_rank"].to_list())
    if not named or writers & set(named) or (facts.case.world_size or max(named) + 1) <= max(named):
        return None
    stories = {rank: story for rank in named if (story := story_of(facts, AskedRank(rank, True)))}
    first = next(iter(stories.values()), None)
    doing = f": {first.doing}" if first else "; what it did instead, its stack or its log would tell"
    row = mine.row(0, named=True)
    limit = f" within {row['timeout_ms'] / 1000:g} s" if row["timeout_ms"] else ""
    return Finding(
        cause=first.cause if first else "undetermined",
        confidence="supported",
        sentence=(
            f"{upper(ranks_words(named))} did not come to the monitored barrier{limit}, says "
            f"{ranks_words(sorted(writers))}{doing}. The others came, and failed for want of "
            f"{verb(named, 'it', 'them')}."
        ),
        culprits=named,
        doing={rank: story.doing for rank, story in stories.items()},
        location=first.location if first else None,
        evidence=(event_id(row["log"], row["line"]), *(i for s in stories.values() for i in s.evidence)),
        contradicted_by="a line of the named rank that it passed the barrier",
        alternatives=first.alternatives if first else (),
    )
