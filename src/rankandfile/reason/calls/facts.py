"""The first stage of the facts: what every rank called, and what of that belongs together."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from msgspec import Struct

from rankandfile.model.case import Case
from rankandfile.model.code_read import NO_CODE, CodeRead
from rankandfile.reason.ranks.from_logs.accounts import Accounts
from rankandfile.reason.ranks.from_logs.watchdog_counters import users_by_log

from .call_table import CallTable, read_calls
from .clock_skew import ahead, on_one_clock
from .failed_waits import with_failed_waits
from .matching import mismatched
from .membership import Membership, membership
from .order_across_groups import Order
from .pairing import Pairing, pair
from .progress import progress, standing
from .sibling_groups import by_use
from .whole_programs.begun_threads import begun_by_python
from .whole_programs.compared import Programs

OnStep = Callable[[str], None]


class CallFacts(Struct, frozen=True, kw_only=True):
    case: Case
    accounts: Accounts
    """What logs and exit lists say of each rank."""
    call_table: CallTable
    clocks: dict[int, int]
    """By how much a rank's clock was ahead of the one that its calls' times are given in."""
    progress: pl.DataFrame
    """Per rank and group: first kept, last enqueued, oldest unfinished, last completed."""
    standing_by_calls: pl.DataFrame
    """Per group and member, also those without calls: what their own calls tell of them."""
    membership: Membership
    mismatched: pl.DataFrame
    pairing: Pairing
    order: Order
    programs: Programs


def call_facts(case: Case, accounts: Accounts, step: OnStep, code: CodeRead = NO_CODE) -> CallFacts:
    """The calls of a case, on one clock, numbered, matched and paired."""
    call_table = read_calls(case)
    clocks = ahead(case, call_table)
    if clocks:
        call_table = on_one_clock(call_table, clocks)
        off = max(abs(ns) for ns in clocks.values()) // 1_000_000_000
        step(
            f"Clocks: up to {off:,} s apart; {sum(ns != 0 for ns in clocks.values()):,} ranks set to the others'"
        )
    table = progress(call_table)
    belongs = membership(case, _users(case, call_table, accounts), code)
    standings = standing(case, call_table, table, belongs.members)
    told = with_failed_waits(case, call_table, standings)
    if told is not call_table:
        call_table, table = told, progress(told)
        standings = standing(case, call_table, table, belongs.members)
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
    families = by_use(call_table, belongs.members, belongs.families)
    return CallFacts(
        case=case,
        accounts=accounts,
        call_table=call_table,
        clocks=clocks,
        progress=table,
        standing_by_calls=standings,
        membership=belongs,
        mismatched=mismatches,
        pairing=pairs,
        order=Order(call_table, families),
        programs=Programs(call_table, families, begun_by_python(case)),
    )


def _users(case: Case, call_table: CallTable, accounts: Accounts) -> dict[int, set[int]]:
    """Group -> the ranks that used it, by their calls or by what their watchdogs say."""
    users: dict[int, set[int]] = {}
    for rank, group in call_table.calls.select("rank", "group").unique().iter_rows():
        users.setdefault(group, set()).add(rank)
    for rank, group in users_by_log(accounts, case):
        users.setdefault(group, set()).add(rank)
    return users
