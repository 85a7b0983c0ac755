"""Every member makes the same calls from the same place, each in an order of its own: no order is the right one."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rankandfile.model.diagnosis import Cohort, Divergence
from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper

CAUSE = "order_inversion"

_FEWEST_MEMBERS, _FEWEST_CALLS = 3, 2
_MOST_MEMBERS = 64


@heuristic("an order for each", "equal calls of which every member has its own order: no order is right")
def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind not in ("joined", "behind", "mismatched"):
        return None
    groups = {facts.waits.pending[i].group for i in wait_end.pending} | set(wait_end.groups)
    for group in sorted(groups):
        found = _in_group(facts, wait_end, group)
        if found is not None:
            return found
    return None


def _in_group(facts: Facts, wait_end: WaitEnd, group: int) -> Finding | None:
    members = facts.membership.members[group]
    first = facts.mismatched.filter(pl.col("group") == group)["slot"].min()
    if not isinstance(first, int) or not _FEWEST_MEMBERS <= len(members) <= _MOST_MEMBERS:
        return None
    calls = facts.call_table.of_group(group).filter(pl.col("slot") >= first).sort("slot")
    made = {rank: calls.filter(pl.col("rank") == rank) for rank in members}
    orders = {rank: tuple(rows.select("terms", "site").iter_rows()) for rank, rows in made.items()}
    # What one has not come to yet is missing in its order, and would look like another call.
    if len({len(order) for order in orders.values()}) != 1 or not _only_order(list(orders.values())):
        return None
    rows = {rank: made[rank].row(0, named=True) for rank in members}
    here = lookup.call_words(facts, rows[members[0]])
    return Finding(
        cause=CAUSE,
        confidence="established",
        sentence=(
            f"{upper(ranks_words(members))} make the same {len(orders[members[0]])} calls from seq {first} on, each in "
            f"another order, beginning at the {here} (group {lookup.group_words(facts, group)}). No order is that of "
            f"most ranks. {waiting_sentence(facts, wait_end, tuple(members))}"
        ).strip(),
        culprits=tuple(members),
        doing=dict.fromkeys(members, "makes the calls in an order of its own"),
        divergence=Divergence(
            group=lookup.group_words(facts, group),
            seq=rows[members[0]]["seq"],
            kind="swapped",
            cohorts=[
                Cohort(ranks=str(rank), call=lookup.as_call(facts, row, lookup.size_words(facts, row)))
                for rank, row in list(rows.items())[:8]
            ],
            members=lookup.members_text(facts, group),
        ),
        location=lookup.location_of(facts, rows[members[0]]),
        evidence=tuple(lookup.evidence_of(row) for row in list(rows.values())[:8]),
        contradicted_by="a rank of the group whose calls are others",
        explains=len(wait_end.victims),
    )


def _only_order(orders: Sequence[tuple[object, ...]]) -> bool:
    """The same calls, and no two members in the same order."""
    if len(orders[0]) < _FEWEST_CALLS or len(set(orders)) < len(orders):
        return False
    return len({tuple(sorted(order, key=repr)) for order in orders}) == 1
