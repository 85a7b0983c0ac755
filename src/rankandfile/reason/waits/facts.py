"""The third stage of the facts: who waits for whom, what that ends in, and which paths led there."""

from __future__ import annotations

import polars as pl
from msgspec.structs import asdict

from rankandfile.reason.calls.facts import OnStep
from rankandfile.reason.calls.lost_history import lost_words
from rankandfile.reason.calls.unrecorded_transfers import hidden_transfers
from rankandfile.reason.divergence.paths import GroupPaths, paths_of_group
from rankandfile.reason.ranks.facts import RankFacts
from rankandfile.reason.verdict.contradiction import Contradiction
from rankandfile.reason.verdict.contradictions import contradictions

from .ended_ranks import with_deaths
from .ends import settled_ends
from .graph import WaitEnd, Waits, build, find_pending
from .seen_waiting import seen_waiting
from .unrecorded_waits import owed_by_nobody, unseen


class WaitFacts(RankFacts, frozen=True, kw_only=True):
    waits: Waits
    wait_ends: tuple[WaitEnd, ...]
    """What the waits end in, those that need no guessing first."""
    paths_of_groups: dict[int, GroupPaths]
    """Per group that the end of a wait is about: the paths its ranks took."""
    hidden: dict[int, int]
    """Rank that may wait in one -> sends and receives it made that were not recorded, as far as they can be counted."""
    owed_by_nobody: frozenset[int]
    """Of those that have not come: all others have made their transfers, as the numbers of gloo's calls tell."""
    contradictions: tuple[Contradiction, ...]
    """What two sources say of one rank, and cannot both be so."""


def wait_facts(ranks: RankFacts, step: OnStep) -> WaitFacts:
    case, call_table, accounts, hosts = ranks.case, ranks.call_table, ranks.accounts, ranks.hosts
    mismatches = ranks.mismatched
    keys = {(group, slot) for group, slot in mismatches.select("group", "slot").iter_rows()}
    pending = seen_waiting(case, find_pending(ranks.standing, ranks.pairing.heads, keys), hosts)
    waits = build(pending, _unseen(ranks))
    step(
        f"Waits: {len(waits.of_rank):,} ranks wait in {len(pending):,} calls, which end in "
        f"{len(waits.wait_ends):,} places"
    )
    wait_ends = with_deaths(settled_ends(waits, ranks.standing, mismatches), waits, accounts)
    groups = sorted({g for wait_end in wait_ends for g in _groups_of(wait_end, waits)})
    paths_of_groups = {g: paths for g in groups if (paths := paths_of_group(call_table, g)) is not None}
    for group, paths in paths_of_groups.items():
        step(f"Paths: {len(paths.paths)} in group {case.group_label(group)}, normal by {paths.decided_by}")
    for group in groups:
        if history := lost_words(case, call_table, group):
            step(f"Rings: {history}, in group {case.group_label(group)}")
    hidden = hidden_transfers(case, call_table)
    unowed = owed_by_nobody(wait_ends, waits, case, call_table, ranks.code)
    hidden = unseen(hidden, wait_ends, waits, hosts, accounts, case, unowed)
    if hidden:
        step(
            f"Hidden: {sum(hidden.values()):,} sends and receives known that were not recorded; {len(hidden):,} ranks "
            "may wait in one"
        )
    against = contradictions(case, call_table, ranks.membership, accounts, hosts, ranks.standing, mismatches)
    for one in against:
        step(f"Contradiction: {one}")
    return WaitFacts(
        **asdict(ranks),
        waits=waits,
        wait_ends=wait_ends,
        paths_of_groups=paths_of_groups,
        hidden=hidden,
        owed_by_nobody=unowed,
        contradictions=against,
    )


def _unseen(ranks: RankFacts) -> frozenset[int]:
    """Ranks without a whole dump that may wait in turn: neither gone, nor seen in something else than a wait."""
    whole = ranks.case.dumps_used.filter(~pl.col("truncated").fill_null(False))["rank"].drop_nulls()
    elsewhere = {rank for rank, stand in ranks.hosts.items() if stand.died or stand.waits == "no"}
    gone = {rank for rank in ranks.accounts.ends if ranks.accounts.gone(rank)}
    return frozenset(ranks.standing["rank"].to_list()) - {*whole.to_list(), *elsewhere, *gone}


def _groups_of(wait_end: WaitEnd, waits: Waits) -> set[int]:
    return {waits.pending[i].group for i in wait_end.pending} | set(wait_end.groups)
