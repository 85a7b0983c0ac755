"""Failures of an attempt that is over: an agent has started the ranks anew behind them, in the same log.

What is asked is how the job stands now. Only where the log tells of the new attempt, by work or by a failure of its
own, is the one before it over: a log that ends with the restart tells of that one alone.
"""

from __future__ import annotations

import polars as pl

_FAILS = ("origin", "messenger", "echo")
_ENDS = (
    "agent_failure",
    "child_failed",
    "process_ended",
    "agent_unkillable",
    "ray_worker_exit",
    "ray_oom",
    "pod_oom",
)
_GOES_ON = ("progress", "work_goes_on")
EARLIER = "earlier_attempt"


def without_past_attempts(events: pl.DataFrame) -> pl.DataFrame:
    """Their lines stay as facts that accuse nobody."""
    kind, role = pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String)
    if not events.select((kind == "restarted").any()).item():
        return events
    tells = role.is_in(list(_FAILS)) | kind.is_in(list(_ENDS))
    last = events.group_by("log").agg(
        pl.col("line").filter(kind == "restarted").max().alias("restart"),
        pl.col("line").filter(tells | kind.is_in(list(_GOES_ON))).max().alias("latest"),
    )
    joined = events.join(last, on="log", how="left", maintain_order="left")
    over = (tells & (pl.col("line") < pl.col("restart")) & (pl.col("restart") < pl.col("latest"))).fill_null(
        False
    )
    return joined.with_columns(
        pl.when(over).then(pl.lit(EARLIER)).otherwise(kind).cast(events.schema["kind"]).alias("kind"),
        pl.when(over).then(pl.lit("fact")).otherwise(role).cast(events.schema["role"]).alias("role"),
    ).select(events.columns)
