"""The second stage of the facts: where every rank is, from whatever tells it: calls, stacks, logs, exit lists."""

from __future__ import annotations

import polars as pl
from msgspec.structs import asdict

from rankandfile.model.code_read import NO_CODE, CodeRead
from rankandfile.reason.calls.facts import CallFacts
from rankandfile.reason.calls.falsely_open import without_unasked

from .called_meanwhile import called_meanwhile, with_motion
from .from_logs.watchdog_counters import stand_in
from .host import Stand, stands


class RankFacts(CallFacts, frozen=True, kw_only=True):
    standing: pl.DataFrame
    """Per group and member, also those without calls: what is known of them."""
    hosts: dict[int, Stand]
    """Where each rank's host is, by its stack."""
    code: CodeRead
    """What the source says on the lines that stacks stand on."""


def rank_facts(calls: CallFacts, code: CodeRead = NO_CODE) -> RankFacts:
    hosts = stands(calls.case, code)
    if not calls.clocks:
        # Else the calls' times are given in a clock that need not be that of the looks.
        hosts = with_motion(hosts, called_meanwhile(hosts, calls.call_table.calls))
    told = stand_in(calls.standing_by_calls, calls.accounts, calls.case, calls.call_table, calls.membership)
    return RankFacts(
        **asdict(calls), standing=without_unasked(calls.case, told, hosts), hosts=hosts, code=code
    )
