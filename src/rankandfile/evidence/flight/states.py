"""What a recorded state means: the one place that knows producers and versions.

The recorder writes ``scheduled``, ``started`` or ``completed``, and ``retired``. What these prove differs:

* A device backend (NCCL and its kin) polls events. ``completed`` is proof. ``started`` is proof, but is only
  ever seen where timing is on: a dump with any start time or duration has it on (the ``timing`` of its row in
  `dumps`). With timing off, ``scheduled`` says nothing about the device.
* gloo gives the recorder no events: its calls stay ``scheduled`` for ever. ``retired`` then means that the call
  ended — finished or failed, the recorder cannot tell. Not retired is in flight.
* The sends, receives and collectives inside a batch carry no events of their own (recorded without them) and
  stay ``scheduled``, not retired, for ever. Their state is that of the ``coalesced`` call that closes the batch:
  the one with the same group and sequence numbers.
* When a watchdog gives up, it aborts the communicator, and what is still queued may be found ``completed``, though
  nobody came to it: measured with NCCL 2.28, a barrier that the host waited in, forty calls ahead of the one that
  hung. Nothing lets go of such a call: it is not ``retired``.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.tables import STATES

#: Rank & File's word for each pair of recorded state and retired.
MEANING: dict[tuple[str, bool], str] = {
    ("scheduled", False): "issued",
    ("scheduled", True): "ended",
    ("started", False): "started",
    ("started", True): "ended",
    ("completed", False): "completed",
    ("completed", True): "completed",
}

#: What keeps its order: a group's communicator, of one process.
_QUEUE = ["dump", "group"]
_BATCH = ["dump", "group", "is_p2p", "seq", "p2p_seq"]


def closes_a_batch(op: pl.Expr) -> pl.Expr:
    """The call that ends a coalesced batch, in either generation of the name."""
    name = op.cast(pl.String).str.to_lowercase()
    return (name == "coalesced") | name.str.ends_with("_coalesced")


def settle_batches(calls: pl.DataFrame) -> pl.DataFrame:
    """Give the calls inside a batch the state of the call that closes it."""
    ops = calls["op"].unique().to_frame().filter(closes_a_batch(pl.col("op")))["op"].to_list()
    if not ops:
        return calls
    closing = calls.filter(pl.col("op").is_in(ops)).select(
        *_BATCH,
        pl.col("state").alias("_state"),
        pl.col("started_ns").alias("_started_ns"),
        pl.col("completed_ns").alias("_completed_ns"),
        pl.col("record").alias("_closed_by"),
    )
    # A damaged dump may repeat a number: then the first one counts, and no call is doubled.
    closing = closing.unique(_BATCH, keep="first", maintain_order=True)
    inside = (pl.col("record") < pl.col("_closed_by")) & (pl.col("state") == "issued")
    joined = calls.join(closing, on=_BATCH, how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(
        pl.when(inside).then(pl.col("_state")).otherwise(pl.col("state")).cast(STATES).alias("state"),
        pl.when(inside).then("_started_ns").otherwise("started_ns").alias("started_ns"),
        pl.when(inside).then("_completed_ns").otherwise("completed_ns").alias("completed_ns"),
    ).select(calls.columns)


def undo_aborted(calls: pl.DataFrame) -> pl.DataFrame:
    """Calls that only the abort has ended are in flight: those behind one of their group that is, as a communicator
    keeps its order, and barriers that were given up."""
    # Of a job's calls nearly all are let go of: what is looked at here are few.
    kept = calls.filter(~pl.col("retired") & ~pl.col("is_p2p"))
    found = kept.filter(pl.col("state") == "completed")
    if found.is_empty():
        return calls
    in_flight = kept.filter(pl.col("state").is_in(["issued", "started"])).select(*_QUEUE, _held="seq")
    late = pl.col("completed_ns") - pl.col("created_ns") >= pl.col("timeout_ms") * 1_000_000
    barrier = pl.col("op").cast(pl.String).str.contains("barrier", literal=True)
    behind = _behind(found, in_flight)
    if not behind.is_empty():
        gone = in_flight.join(_let_go(calls, behind), on=_QUEUE, how="left")
        behind = _behind(found, gone.filter(pl.col("_held") > pl.col("_let_go").fill_null(-1)))
    rows = [one.select("dump", "record") for one in (behind, found.filter(barrier & late))]
    aborted = pl.concat(rows).unique().with_columns(_aborted=True)
    if aborted.is_empty():
        return calls
    joined = calls.join(aborted, on=["dump", "record"], how="left", maintain_order="left")
    state = pl.when(pl.col("started_ns").is_null()).then(pl.lit("issued")).otherwise(pl.lit("started"))
    return joined.with_columns(
        pl.when("_aborted")
        .then(state)
        .otherwise(pl.col("state").cast(pl.String))
        .cast(STATES)
        .alias("state"),
        pl.when("_aborted").then(None).otherwise("completed_ns").alias("completed_ns"),
    ).select(calls.columns)


def _behind(found: pl.DataFrame, in_flight: pl.DataFrame) -> pl.DataFrame:
    first = in_flight.group_by(_QUEUE).agg(pl.col("_held").min())
    return found.join(first, on=_QUEUE).filter(pl.col("seq") > pl.col("_held"))


def _let_go(calls: pl.DataFrame, of: pl.DataFrame) -> pl.DataFrame:
    """The last number that was let go of. What went into a CUDA graph before it stays issued for ever."""
    queues = of.select(_QUEUE).unique()
    retired = calls.filter(pl.col("retired") & ~pl.col("is_p2p")).join(queues, on=_QUEUE, how="semi")
    return retired.group_by(_QUEUE).agg(pl.col("seq").max().alias("_let_go"))
