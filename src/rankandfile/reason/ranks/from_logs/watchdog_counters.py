"""The watchdog's counters stand in for a missing dump: how far a rank came in a group, by its own log.

Only what the line proves is taken: a rank that gave up on a call, or that had enqueued a later one, has joined it;
one that had not enqueued it when it answered the dump signal has not. A group that also sends and receives counts
twice, and a line does not say which of the two counters it means: its lines are left aside.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from rankandfile.model.case import Case
from rankandfile.reason.calls.call_table import (
    BATCH,
    MEMBER,
    TRANSFER,
    CallTable,
)
from rankandfile.reason.calls.membership import Membership
from rankandfile.reason.ranks.threads import threads_in_calls

from .accounts import Accounts, Report


def stand_in(
    stands: pl.DataFrame, accounts: Accounts, case: Case, call_table: CallTable, belongs: Membership
) -> pl.DataFrame:
    """`stands`, where what a log tells takes the place of what no dump tells."""
    if not accounts.reports or stands["known"].all():
        return stands
    told = _told(stands, accounts, case, call_table, belongs)
    if not told:
        return stands
    table = pl.DataFrame(
        [(group, rank, *values) for (group, rank), values in told.items()],
        schema={"group": pl.UInt32, "rank": pl.Int32, "told": pl.Int64, "stuck": pl.Int64},
        orient="row",
    )
    joined = stands.join(table, on=["group", "rank"], how="left", maintain_order="left")
    is_told = pl.col("told").is_not_null()
    return joined.with_columns(
        pl.max_horizontal("last", "told").alias("last"),
        (pl.col("known") | is_told).alias("known"),
        pl.coalesce("open_slot", "stuck").alias("open_slot"),
        pl.when(is_told & pl.col("stuck").is_not_null())
        .then(pl.col("open_state").fill_null(0))
        .otherwise("open_state")
        .alias("open_state"),
        # A log does not say whether the device has begun the call.
        (pl.col("timing") & ~(is_told & pl.col("stuck").is_not_null())).alias("timing"),
    ).drop("told", "stuck")


def users_by_log(accounts: Accounts, case: Case) -> list[tuple[int, int]]:
    """(rank, group) of ranks whose log shows that they use a group. A name that several groups bear tells nothing."""
    groups: dict[str, list[int]] = defaultdict(list)
    for group, name in case.groups.select("group", "name").iter_rows():
        groups[name].append(group)
    pairs = {(report.rank, report.group) for report in accounts.reports}
    return [(rank, groups[name][0]) for rank, name in sorted(pairs) if len(groups.get(name, ())) == 1]


def _told(
    stands: pl.DataFrame, accounts: Accounts, case: Case, call_table: CallTable, belongs: Membership
) -> dict[tuple[int, int], tuple[int, int | None]]:
    """(group, rank) -> last number enqueued, and the number it is stuck at, if any."""
    kinds = pl.col("kind").is_in([TRANSFER, MEMBER, BATCH])
    twice = set(call_table.calls.filter(kinds)["group"].unique().to_list())
    unknown: dict[int, list[int]] = defaultdict(list)
    for group, rank in stands.filter(~pl.col("known")).select("group", "rank").iter_rows():
        if group not in twice:
            unknown[rank].append(group)
    names = {row["group"]: {row["name"], row["desc"]} for row in case.groups.iter_rows(named=True)}
    out: dict[tuple[int, int], tuple[int, int | None]] = {}
    for rank, groups in unknown.items():
        for report in accounts.of_rank.get(rank, ()):
            fitting = [g for g in groups if is_of(report, names[g], belongs.members[g])]
            last = max((n for n in (report.enqueued, report.seq) if n is not None), default=None)
            if len(fitting) != 1 or last is None:
                continue
            known = out.get((fitting[0], rank), (-1, None))
            out[fitting[0], rank] = (max(known[0], last), known[1] if report.seq is None else report.seq)
    # Of threads that are in a call each, the counters do not tell which of them made the first that is open.
    threads = threads_in_calls(case) if out else {}
    return {
        (group, rank): (last, at if threads.get(rank, 0) < 2 else None)
        for (group, rank), (last, at) in out.items()
    }


def is_of(report: Report, names: set[str], members: list[int]) -> bool:
    """Whether a line speaks of this group: by its name, and by the writer's place in it."""
    if report.group not in names and not (report.desc and report.desc in names):
        return False
    place = report.group_rank
    return place is None or (place < len(members) and members[place] == report.rank)
