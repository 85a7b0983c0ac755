"""Lines of ranks that are not printed, or leave out what the others' tell: what they were follows from those.

Ray prints one of many lines alike, and how many there were. Where as many ranks are missing, they are theirs.
"""

from __future__ import annotations

import polars as pl

_WATCHDOGS = ("watchdog_timeout", "watchdog_progress")
_SAME = ("seq", "op", "size_in", "size_out")


def completed(events: pl.DataFrame, world: int | None) -> pl.DataFrame:
    """`world`: the number of ranks, where a line tells it."""
    return _of_the_only_group(_of_silent_ranks(events, world))


def _of_silent_ranks(events: pl.DataFrame, world: int | None) -> pl.DataFrame:
    count = pl.col("fields").str.json_path_match("$.left_out").cast(pl.Int64, strict=False)
    rows = events.filter(pl.col("kind").cast(pl.String).is_in(_WATCHDOGS) & pl.col("rank").is_not_null())
    counted = rows.with_columns(count.alias("left_out")).drop_nulls("left_out")
    more = []
    for kind in counted["kind"].cast(pl.String).unique().sort().to_list() if world else ():
        mine = counted.filter(pl.col("kind").cast(pl.String) == kind)
        spoke = rows.filter(pl.col("kind").cast(pl.String) == kind)["rank"].to_list()
        silent = sorted(set(range(world or 0)) - set(spoke))
        # The one that is printed is one of them.
        if mine.select(_SAME).n_unique() != 1 or (mine["left_out"] - 1).sum() != len(silent) or not silent:
            continue
        ranks = pl.DataFrame({"rank": silent}, schema=events.select("rank").schema)
        nobody = (
            pl.lit(None).alias(name) for name in ("rank", "group_rank", "local_rank", "host", "pid", "fields")
        )
        one = (
            mine.head(1)
            .select(events.columns)
            .with_columns(*nobody, pl.lit("left_out").cast(pl.Categorical).alias("rank_from"))
        )
        more.append(ranks.join(one.drop("rank"), how="cross").select(events.columns).cast(events.schema))
    return pl.concat([events, *more]) if more else events


def _of_the_only_group(events: pl.DataFrame) -> pl.DataFrame:
    """A watchdog's line without a group is of the one that others name for the same call, where they name only one."""
    kind = pl.col("kind").cast(pl.String).is_in(_WATCHDOGS)
    named = events.filter(kind & pl.col("group_name").is_not_null() & pl.col("seq").is_not_null())
    labels = named.select("group_name", "group_desc").unique()
    if labels.height != 1:
        return events
    name, desc = labels.row(0)
    bare = pl.col("group_name").is_null() & pl.col("group_desc").is_null() & pl.col("pg_id").is_null()
    its = kind & bare & pl.col("seq").is_in(named["seq"].unique().implode())
    return events.with_columns(
        pl.when(its).then(pl.lit(name)).otherwise("group_name").alias("group_name"),
        pl.when(its).then(pl.lit(desc)).otherwise("group_desc").alias("group_desc"),
    ).cast(events.schema)
