"""Where two sources say of one rank what cannot both be so. It is shown with both places, and nothing is averaged.

A contradiction accuses nobody: one of the sources is older, of another attempt, or wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.ledger import group_id
from rankandfile.reason.calls.call_table import COLLECTIVE, CallTable
from rankandfile.reason.calls.membership import Membership
from rankandfile.reason.divergence.code_paths import elsewhere
from rankandfile.reason.ranks.from_logs.accounts import Accounts, End
from rankandfile.reason.ranks.from_logs.watchdog_counters import is_of
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.waits.backends import on_hosts_alone

from .contradicting_ranks import completed_without, counts_of_ras, dead_to_ras
from .contradiction import Contradiction

#: Functions of torch that a flight recorder always has a call for.
_RECORDED = (
    "all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "reduce_scatter",
    "reduce_scatter_tensor", "all_to_all", "all_to_all_single",
)  # fmt: skip
_COMPLETED = 2
_MOST = 6
_MOST_IDS = 4


def contradictions(
    case: Case,
    call_table: CallTable,
    belongs: Membership,
    accounts: Accounts,
    hosts: dict[int, Stand],
    stands: pl.DataFrame,
    mismatched: pl.DataFrame,
) -> tuple[Contradiction, ...]:
    """The most telling first; ranks of which the same is said, in one."""
    found = [
        *completed_without(case, call_table, stands),
        *_ends(accounts),
        *dead_to_ras(case, accounts),
        *_counters(case, call_table, belongs, accounts),
        *_stacks(case, call_table, hosts),
        *counts_of_ras(case, stands, mismatched, belongs, accounts),
    ]
    alike: dict[str, list[Contradiction]] = defaultdict(list)
    for one in found:
        alike[one.what].append(one)
    return tuple(
        Contradiction(
            tuple(sorted({rank for one in those for rank in one.ranks})),
            what,
            tuple(dict.fromkeys(i for one in those for i in one.evidence))[:_MOST_IDS],
            any(one.impossible for one in those),
            any(one.moved for one in those),
            _widest([one.gap_ns for one in those]),
        )
        for what, those in list(alike.items())[:_MOST]
    )


def _widest(gaps: list[int | None]) -> int | None:
    known = [gap for gap in gaps if gap is not None]
    return max(known, key=abs) if len(known) == len(gaps) else None


def _ends(accounts: Accounts) -> Iterator[Contradiction]:
    for rank, end in sorted(accounts.ends.items()):
        for other in end.others:
            if _disagree(end, other):
                yield Contradiction(
                    (rank,),
                    f"one source says {end.words}, another {other.words}",
                    (*end.evidence[:1], *other.evidence[:1]),
                )


def _disagree(one: End, other: End) -> bool:
    """A process that was there when someone looked may have been ended with the job, later. And who sent a signal is
    judged by what else a source knows; which one it was is a fact."""
    later = {one.kind, other.kind} == {"running", "echo"}
    return not later and one.words.rpartition(" ")[2] != other.words.rpartition(" ")[2]


def _counters(
    case: Case, call_table: CallTable, belongs: Membership, accounts: Accounts
) -> Iterator[Contradiction]:
    """Watchdogs' counters against the same rank's dump. Groups that send and receive count twice: left aside."""
    whole = case.dumps_used.filter(~pl.col("truncated").fill_null(False))["rank"].drop_nulls().to_list()
    spoken = accounts.of_rank.keys() & set(whole)
    if not spoken:
        return
    calls = call_table.calls.filter(pl.col("rank").is_in(list(spoken)))
    twice = calls.filter(pl.col("kind") != COLLECTIVE)["group"].unique()
    names = {row["group"]: {row["name"], row["desc"]} for row in case.groups.iter_rows(named=True)}
    came = (
        calls.filter(~pl.col("group").is_in(twice.implode()))
        .group_by("rank", "group")
        .agg(
            pl.col("seq").max().alias("last"),
            pl.col("seq").filter(pl.col("state") == _COMPLETED).max().alias("completed"),
            pl.col("dump").last(),
        )
        .sort("rank", "group")
    )
    for row in came.iter_rows(named=True):
        rank, group = row["rank"], row["group"]
        for report in accounts.of_rank[rank]:
            if not is_of(report, names[group], belongs.members[group]):
                continue
            where, ids = case.group_label(group), (report.evidence, group_id(row["dump"], group))
            said = max((n for n in (report.enqueued, report.seq) if n is not None), default=-1)
            if said > row["last"]:
                yield Contradiction(
                    (rank,),
                    f"the log says that it issued seq {said} in group {where}, and the dump ends at seq "
                    f"{row['last']}: it is older, or of another attempt",
                    ids,
                )
            elif report.seq is not None and report.seq <= (row["completed"] or -1):
                yield Contradiction(
                    (rank,),
                    f"its watchdog gave up on seq {report.seq} in group {where}, and the dump has it completed",
                    ids,
                )


def _stacks(case: Case, call_table: CallTable, hosts: dict[int, Stand]) -> Iterator[Contradiction]:
    """A stack in a call that its recorder would have open, and the dump has none, or only some of other places."""
    inside = {
        rank: stand
        for rank, stand in hosts.items()
        if stand.op in _RECORDED and not stand.died and not stand.moving
    }
    if not inside:
        return
    whole = case.dumps_used.filter(~pl.col("truncated").fill_null(False)).filter(
        pl.col("rank").is_in(list(inside))
    )
    opened = call_table.calls.filter(pl.col("open") & pl.col("rank").is_in(list(inside)))
    made_at: dict[int, list[int | None]] = defaultdict(list)
    for rank, stack in opened.select("rank", "stack").unique().iter_rows():
        made_at[rank].append(stack)
    alone = on_hosts_alone(case)
    for rank, dump, written in whole.select("rank", "dump", "written_ns").iter_rows():
        stand = inside[rank]
        if rank in made_at and not (alone and elsewhere(case, stand.stack, made_at[rank])):
            continue
        timed = written is not None and stand.last_ns is not None
        has = "only open calls of other places" if rank in made_at else "no open call"
        yield Contradiction(
            (rank,),
            f"the stack is {stand.phrase}, and the dump has {has}: they are of different moments",
            (*stand.evidence[:1], f"D{dump}"),
            moved=True,
            gap_ns=written - stand.last_ns if timed else None,
        )
