"""Where the sources of different ranks cannot both be so: a call that could not have completed, counts that differ."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.ledger import call_id, group_id
from rankandfile.reason.calls.call_table import COLLECTIVE, CallTable
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.calls.membership import Membership
from rankandfile.reason.calls.progress import NEVER
from rankandfile.reason.ranks.from_logs.accounts import Accounts
from rankandfile.reason.ranks.from_logs.devices_and_processes import ranks_of_processes
from rankandfile.reason.ranks.from_logs.ras_counts import launches, missed_by_ras

from .contradiction import Contradiction

_COMPLETED = 2


def completed_without(case: Case, call_table: CallTable, stands: pl.DataFrame) -> Iterator[Contradiction]:
    """A collective that needs every member, recorded as completed, and a member whose whole dump ends before it.

    A dump that was written before the call was made is merely older.
    """
    needs_all = [i for i, terms in enumerate(call_table.terms) if contract_of(terms.op).early == "nobody"]
    done = call_table.calls.filter(
        (pl.col("kind") == COLLECTIVE) & (pl.col("state") == _COMPLETED) & pl.col("terms").is_in(needs_all)
    )
    written = case.dumps_used.select("rank", "written_ns").unique("rank", keep="first")
    behind = (
        stands.filter(pl.col("known") & (pl.col("last") < pl.col("last").max().over("group")))
        .select(
            "group",
            pl.col("rank").alias("member"),
            pl.col("last").fill_null(NEVER),
            pl.col("dump").alias("of_member"),
        )
        .join(written.rename({"rank": "member"}), on="member", how="left")
    )
    if not done.height or not behind.height:
        return
    # Few calls are left before anything is paired: a call that a member lacks is hardly ever complete.
    beyond = (
        done.join(behind.group_by("group").agg(pl.col("last").min()), on="group")
        .filter(pl.col("slot") > pl.col("last"))
        .group_by("group", "slot")
        .agg(
            pl.col("created_ns").min(),
            pl.col("dump", "record").first(),
            pl.col("rank").n_unique().alias("ranks"),
        )
        .sort("slot")
    )
    impossible = (
        behind.with_columns((pl.col("last") + 1).alias("next"))
        .sort("next")
        .join_asof(
            beyond, left_on="next", right_on="slot", by="group", strategy="forward", check_sortedness=False
        )
        .filter(pl.col("slot").is_not_null() & (pl.col("written_ns") > pl.col("created_ns")).fill_null(True))
        .sort("group", "member")
    )
    for row in impossible.iter_rows(named=True):
        others = f"{row['ranks']:,} other {'member has' if row['ranks'] == 1 else 'members have'}"
        came = f"ends at number {row['last']}" if row["last"] > NEVER else "has no call of it"
        yield Contradiction(
            (row["member"],),
            f"{others} completed call {row['slot']} of group {case.group_label(row['group'])}, which needs every "
            f"member, and its own dump {came}: it is older, of another attempt, or the call was given up",
            (call_id(row["dump"], row["record"]), group_id(row["of_member"], row["group"])),
            impossible=True,
        )


def counts_of_ras(
    case: Case,
    stands: pl.DataFrame,
    mismatched: pl.DataFrame,
    belongs: Membership,
    accounts: Accounts,
) -> Iterator[Contradiction]:
    """RAS counts fewer or more launches on a rank, and by the dumps every rank has come to the same calls."""
    world = case.world_size or 0
    everyone = list(range(world))
    groups = [g for g, members in belongs.members.items() if members == everyone]
    mine = stands.filter(pl.col("group").is_in(groups))
    if not groups or not mine["known"].all() or mismatched["group"].is_in(groups).any():
        return
    if (mine.group_by("group").agg(pl.col("last").n_unique())["last"] > 1).any():
        return
    for count in launches(case, accounts, world):
        if count.size != world or not count.of_rank:
            continue
        ranks = tuple(sorted(count.of_rank))
        alike = tuple(rank for rank in ranks if count.of_rank[rank] == count.of_rank[ranks[0]])
        dump = mine.filter(pl.col("rank") == ranks[0])["dump"][0]
        yield Contradiction(
            ranks,
            f"NCCL's RAS counts {count.words(alike)}, and by the dumps all ranks have come to the same calls: they are "
            "of different moments",
            (count.evidence, group_id(dump, groups[0])),
        )


def dead_to_ras(case: Case, accounts: Accounts) -> Iterator[Contradiction]:
    for rank, (evidence, dead) in missed_by_ras(case.events, ranks_of_processes(case.exits)).items():
        end = accounts.ends.get(rank)
        if dead and end is not None and end.kind == "running":
            yield Contradiction(
                (rank,),
                f"NCCL's RAS takes its process for dead, and another source says {end.words}",
                (evidence, *end.evidence[:1]),
            )
