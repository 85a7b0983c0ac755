"""Calls that were made and not recorded. gloo keeps no sends and receives, but they count in its `op_id`."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.heuristics import heuristic

from .call_table import COLLECTIVE, CallTable


@heuristic(
    "unrecorded transfers", "gloo's op_id counts sends and receives that no recorder keeps", otherwise={}
)
def hidden_transfers(case: Case, call_table: CallTable) -> dict[int, int]:
    """Rank -> number of sends and receives between its recorded collectives, 0 where it has made none to count them
    between, though others have. None at all for most jobs.

    Between two collectives with neighbouring numbers, `op_id` grows by one and one more for each transfer. A gap in
    the numbers themselves is something else: a monitored barrier takes numbers without being recorded.
    """
    gloo = case.dumps_used.filter(pl.col("backend") == "gloo")["dump"]
    if not gloo.len():
        return {}
    calls = call_table.calls.filter(
        (pl.col("kind") == COLLECTIVE) & pl.col("dump").is_in(gloo.implode())
    ).select("rank", "group", "seq", "op_id", "record")
    if calls.select((pl.col("op_id") == pl.col("seq")).fill_null(True).all()).item():
        return {}
    between = _with_transfers(calls)
    counted = between.filter(pl.col("hidden") > 0).group_by("rank").agg(pl.col("hidden").sum())
    # A dump without calls does not tell its backend; and several of those, all alike, are set aside.
    left = {*case.dumps["rank"].drop_nulls()}
    uncounted = left - {*case.calls["rank"].unique()} if counted.height else set()
    return dict.fromkeys(sorted(uncounted), 0) | dict(counted.sort("rank").iter_rows())


#: So many rounds with as many transfers each show how many a round has.
_ROUNDS = 3


@heuristic(
    "transfers all made",
    "who made as many transfers as in each round before owes nobody one",
    otherwise=False,
)
def made_all(call_table: CallTable, rank: int, group: int, slot: int) -> bool:
    """Whether this rank has made, up to this call, as many unrecorded transfers as before each of the calls like it."""
    counts = _of_like_calls(call_table, rank, group, slot)
    return len(counts) >= _ROUNDS and len({*counts}) == 1 and counts[0] > 0


@heuristic(
    "as many transfers each",
    "who made as many transfers as each other, as all of the group always did, owe nobody one",
    otherwise=False,
)
def as_many_each(call_table: CallTable, waiting: Sequence[int], group: int, slot: int) -> bool:
    """Whether all of the group, whoever is still to come too, made equally many unrecorded transfers before each of its
    calls that are kept of all, and `waiting` before this one as well. How many may change from call to call; of a call
    that never came before it is not known."""
    counts = _counted(call_table, group).filter(pl.col("slot") <= slot)
    by_slot = counts.group_by("slot").agg(
        pl.col("rank").n_unique().alias("ranks"),
        (pl.col("hidden").min() == pl.col("hidden").max()).alias("equal"),
        pl.col("hidden").null_count().alias("unknown"),
        pl.col("hidden").max().alias("most"),
        pl.col("token").first(),
    )
    earlier = by_slot.filter((pl.col("slot") < slot) & (pl.col("unknown") == 0))
    now = by_slot.filter(pl.col("slot") == slot)
    everybody = counts["rank"].n_unique()
    complete = bool((earlier["ranks"] == everybody).all()) and everybody > len(waiting)
    alike = earlier.filter(pl.col("token").is_in(now["token"].implode()))
    busy = alike.filter(pl.col("most") > 0).height >= _ROUNDS
    again = now.height == 1 and not now["unknown"][0] and now["equal"][0] and now["most"][0] > 0
    return complete and busy and again and bool(earlier["equal"].all())


def made_in_others(call_table: CallTable, group: int) -> bool:
    """Whether transfers are made in other groups than this one, too: of those, its numbers tell nothing."""
    calls = call_table.calls.filter((pl.col("group") != group) & (pl.col("kind") == COLLECTIVE))
    return calls.filter(pl.col("op_id") > pl.col("seq")).height > 0


def _of_like_calls(call_table: CallTable, rank: int, group: int, slot: int) -> list[int]:
    """The transfers that it made before each call like this one, up to this one itself."""
    calls = _counted(call_table, group).filter(pl.col("rank") == rank)
    now = calls.filter(pl.col("slot") == slot)
    if now.height != 1 or now["hidden"][0] is None:
        return []
    alike = calls.filter((pl.col("slot") <= slot) & (pl.col("token") == now["token"][0]))
    counts = list(alike["hidden"].drop_nulls())
    # Before the first of all calls there may be something to set up.
    return counts[1:] if alike["seq"][0] == 1 and counts[:1] != counts[1:2] else counts


def _counted(call_table: CallTable, group: int) -> pl.DataFrame:
    """The group's collectives, each rank's in order, with how many transfers it made right before each."""
    return _with_transfers(call_table.of_group(group).filter(pl.col("kind") == COLLECTIVE))


def _with_transfers(collectives: pl.DataFrame) -> pl.DataFrame:
    """In the order in which each rank made them on each group, with how many transfers it made right before each; null
    where that is not known: right before it, a call is missing."""
    same = (pl.col("rank") == pl.col("rank").shift()) & (pl.col("group") == pl.col("group").shift())
    same = same.fill_null(False)
    return collectives.sort("rank", "group", "record").with_columns(
        pl.when(same & (pl.col("seq").diff() == 1)).then(pl.col("op_id").diff() - 1)
        .when(~same & (pl.col("seq") == 1)).then(pl.col("op_id") - 1).alias("hidden")
    )  # fmt: skip


def made_fewer(call_table: CallTable, rank: int, group: int, slot: int) -> tuple[int, int] | None:
    """How many transfers it made before this call, and how many, of which one at least is missing, before each of
    those like it earlier. None: as many, or no number is usual."""
    counts = _of_like_calls(call_table, rank, group, slot)
    *before, now = counts or [0]
    if len(before) < _ROUNDS - 1 or len({*before}) != 1 or now >= before[0]:
        return None
    return now, before[0]
