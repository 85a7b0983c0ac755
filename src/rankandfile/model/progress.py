"""Progress: how far each rank came in each group, by its calls and by its own counters."""

from __future__ import annotations

import polars as pl

from .case import Case


def progress(case: Case) -> pl.DataFrame:
    """One row per rank and group: sequence numbers of the first call kept, the last enqueued, started and completed.

    Sends and receives count apart (`kind`), because a group numbers them apart. `last_completed` is the last call
    that is known to have ended; a gloo call that ended may also have failed. The `reported_` columns are the
    producer's own counters, which go on counting where its ring has forgotten.
    """
    number = pl.when("is_p2p").then("p2p_seq").otherwise("seq")
    began = pl.col("state") != "issued"
    ended = pl.col("state").is_in(["completed", "ended"])
    table = (
        case.calls.with_columns(
            number.alias("number"),
            pl.when("is_p2p").then(pl.lit("p2p")).otherwise(pl.lit("collective")).alias("kind"),
        )
        .group_by("rank", "group", "kind")
        .agg(
            pl.len().alias("calls"),
            pl.col("number").min().alias("first_kept"),
            pl.col("number").max().alias("last_enqueued"),
            pl.col("number").filter(began).max().alias("last_started"),
            pl.col("number").filter(ended).max().alias("last_completed"),
            pl.col("number").filter(~ended).min().alias("oldest_unfinished"),
            (~ended).sum().alias("unfinished"),
        )
    )
    reported = case.statuses.select(
        "rank",
        "group",
        pl.lit("collective").alias("kind"),
        pl.col("last_enqueued").alias("reported_enqueued"),
        pl.col("last_completed").alias("reported_completed"),
    )
    return table.join(reported, on=["rank", "group", "kind"], how="left").sort("group", "kind", "rank")
