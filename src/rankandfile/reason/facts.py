"""Everything that was worked out on the way to the verdict, for whoever wants to look: the trail, `show`, `explain`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from rankandfile.model.case import Case

from .calls.call_table import CallTable, read_calls
from .calls.clock_skew import ahead, on_one_clock
from .calls.failed_waits import with_failed_waits
from .calls.looks_open import without_unasked
from .calls.lost_history import lost_words
from .calls.matching import mismatched
from .calls.membership import Membership, membership
from .calls.order_across_groups import Order
from .calls.pairing import Pairing, pair
from .calls.programs import Programs
from .calls.progress import progress, standing
from .calls.unrecorded_transfers import hidden_transfers
from .divergence.paths import GroupPaths, paths_of_group
from .ranks.accounts import Accounts
from .ranks.host import Stand, stands
from .ranks.read_accounts import read_accounts
from .ranks.watchdog_counters import stand_in, users_by_log
from .verdict.contradiction import Contradiction
from .verdict.contradictions import contradictions
from .waits.ended_ranks import with_deaths
from .waits.ends import settled_ends
from .waits.graph import (
    WaitEnd,
    Waits,
    build,
    find_pending,
)
from .waits.unrecorded_waits import unseen

OnStep = Callable[[str], None]


@dataclass(frozen=True)
class Facts:
    case: Case
    call_table: CallTable
    progress: pl.DataFrame
    """Per rank and group: first kept, last enqueued, oldest unfinished, last completed."""
    standing: pl.DataFrame
    """Per group and member, also those without calls: what is known of them."""
    membership: Membership
    mismatched: pl.DataFrame
    pairing: Pairing
    waits: Waits
    wait_ends: tuple[WaitEnd, ...]
    """What the waits end in, those that need no guessing first."""
    paths_of_groups: dict[int, GroupPaths]
    """Per group that a wait end is about: the paths its ranks took."""
    order: Order
    programs: Programs
    hidden: dict[int, int]
    """Rank that may wait in one -> sends and receives it made that were not recorded, as far as they can be counted."""
    divergences: dict[WaitEnd, Any]
    """What `find_divergence` found, by wait end: every cause asks for it."""
    steps: tuple[str, ...]
    """The trail: one line per step, with its numbers."""
    accounts: Accounts = field(default_factory=Accounts)
    """What logs and exit lists say of each rank."""
    hosts: dict[int, Stand] = field(default_factory=dict)
    """Where each rank's host is, by its stack."""
    clocks: dict[int, int] = field(default_factory=dict)
    """By how much a rank's clock was ahead of the one that its calls' times are given in."""
    contradictions: tuple[Contradiction, ...] = ()
    """What two sources say of one rank, and cannot both be so."""
    hung: bool = False
    """The person says that the job hung: that files have lost their times proves nothing against it."""


def gather(case: Case, on_step: OnStep | None = None, hung: bool = False) -> Facts:
    steps: list[str] = []

    def step(line: str) -> None:
        steps.append(line)
        if on_step is not None:
            on_step(line)

    call_table = read_calls(case)
    clocks = ahead(case, call_table)
    if clocks:
        call_table = on_one_clock(call_table, clocks)
        off = max(abs(ns) for ns in clocks.values()) // 1_000_000_000
        step(
            f"Clocks: up to {off:,} s apart; {sum(ns != 0 for ns in clocks.values()):,} ranks set to the others'"
        )
    table = progress(call_table)
    users: dict[int, set[int]] = {}
    for rank, group in call_table.calls.select("rank", "group").unique().iter_rows():
        users.setdefault(group, set()).add(rank)
    accounts = read_accounts(case)
    for rank, group in users_by_log(accounts, case):
        users.setdefault(group, set()).add(rank)
    belongs = membership(case, users)
    standings = standing(case, call_table, table, belongs.members)
    told = with_failed_waits(case, call_table, standings)
    if told is not call_table:
        call_table, table = told, progress(told)
        standings = standing(case, call_table, table, belongs.members)
    standings = stand_in(standings, accounts, case, call_table, belongs)
    step(
        f"Progress: {call_table.calls.height:,} calls of {len(case.ranks_seen):,} ranks in "
        f"{case.groups.height:,} groups"
    )
    mismatches = mismatched(call_table)
    step(f"Matching: {mismatches.height:,} collectives whose members asked for different things")
    pairs = pair(case, call_table)
    step(
        f"Pairing: {len(pairs.heads):,} unfinished sends and receives, {len(pairs.ambiguous):,} pairs ambiguous"
    )
    hosts = stands(case)
    standings = without_unasked(case, standings, hosts)
    pending = find_pending(standings, pairs.heads, _keys(mismatches))
    waits = build(pending, _unseen(case, standings, accounts, hosts))
    step(
        f"Waits: {len(waits.of_rank):,} ranks wait in {len(pending):,} calls, which end in "
        f"{len(waits.wait_ends):,} places"
    )
    wait_ends = with_deaths(settled_ends(waits, standings, mismatches), waits, accounts)
    groups = sorted({g for wait_end in wait_ends for g in _groups_of(wait_end, waits)})
    paths_of_groups = {g: paths for g in groups if (paths := paths_of_group(call_table, g)) is not None}
    for group, paths in paths_of_groups.items():
        step(f"Paths: {len(paths.paths)} in group {case.group_label(group)}, normal by {paths.decided_by}")
    for group in groups:
        if history := lost_words(case, call_table, group):
            step(f"Rings: {history}, in group {case.group_label(group)}")
    hidden = unseen(hidden_transfers(case, call_table), wait_ends, waits, hosts, accounts, case)
    if hidden:
        step(
            f"Hidden: {sum(hidden.values()):,} sends and receives known that were not recorded; {len(hidden):,} ranks "
            "may wait in one"
        )
    against = contradictions(case, call_table, belongs, accounts, hosts, hidden, standings, mismatches)
    for one in against:
        step(f"Contradiction: {one}")
    order = Order(call_table, belongs.families)
    return Facts(
        case,
        call_table,
        table,
        standings,
        belongs,
        mismatches,
        pairs,
        waits,
        wait_ends,
        paths_of_groups,
        order,
        Programs(call_table, belongs.families),
        hidden,
        {},
        tuple(steps),
        accounts,
        hosts,
        clocks,
        against,
        hung,
    )


def _unseen(case: Case, stands: pl.DataFrame, accounts: Accounts, hosts: dict[int, Stand]) -> frozenset[int]:
    """Ranks without a whole dump that may wait in turn: neither gone, nor seen in something else than a wait."""
    whole = case.dumps_used.filter(~pl.col("truncated").fill_null(False))["rank"].drop_nulls()
    elsewhere = {rank for rank, stand in hosts.items() if stand.died or stand.waits == "no"}
    gone = {rank for rank in accounts.ends if accounts.gone(rank)}
    return frozenset(stands["rank"].to_list()) - {*whole.to_list(), *elsewhere, *gone}


def _keys(mismatches: pl.DataFrame) -> set[tuple[int, int]]:
    return {(group, slot) for group, slot in mismatches.select("group", "slot").iter_rows()}


def _groups_of(wait_end: WaitEnd, waits: Waits) -> set[int]:
    return {waits.pending[i].group for i in wait_end.pending} | set(wait_end.groups)
