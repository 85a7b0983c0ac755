"""A circle of waits: ranks come to two collectives of different groups in opposite order."""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Cohort, Divergence
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.divergence.habits import changed_their_order
from rankandfile.reason.divergence.point import DivergencePoint
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import call_phrase
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = "order_inversion"

_MOST_COMPARED = 48


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "cycle":
        return None
    p = find_divergence(facts, wait_end)
    if p is not None and p.culprits and not _only_order(p):
        # A call left out or added explains the circle.
        return None
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    edges = "; ".join(
        f"{ranks_words([r for r in c.waiting if r in wait_end.ranks] or c.waiting)} "
        f"{verb(c.waiting, 'waits', 'wait')} in the {call_phrase(facts, c)}"
        for c in calls[:4]
    )
    diverged = p.culprits if p is not None else changed_their_order(facts, wait_end)
    if not diverged and not _same_until_now(facts, wait_end):
        return None
    culprits = diverged or wait_end.ranks
    who = (
        f"{upper(ranks_words(culprits))} {verb(culprits, 'comes', 'come')} to them in another order than the "
        "other ranks. "
        if diverged
        else "No order is that of most ranks. "
    )
    return Finding(
        cause=CAUSE,
        confidence="established",
        sentence=f"{upper(ranks_words(wait_end.ranks))} wait for each other in a circle: {edges}. {who}".strip(),
        culprits=culprits,
        doing=dict.fromkeys(culprits, "in the circle"),
        divergence=_divergence(facts, wait_end, diverged),
        evidence=_evidence(facts, wait_end),
        contradicted_by="a call of the circle that has in fact finished",
        explains=len(wait_end.victims),
    )


def _same_until_now(facts: Facts, wait_end: WaitEnd) -> bool:
    """Whether the ranks of the circle made the same calls up to those that they wait in.

    If not, some of them took another path, and that they wait in a circle does not say which.
    """
    if set(wait_end.ranks) & set(absent_ranks(facts)):
        # Where a dump is missing, or ends early, who took another path does not show.
        return False
    transfers = [facts.waits.pending[i] for i in wait_end.pending if facts.waits.pending[i].slot is None]
    if any(not call.busy for call in transfers):
        # The other half was never asked for: it may come late, or have been left out.
        return False
    if transfers and _wrapped(facts, wait_end):
        # Transfers have no numbers: where rings have lost their beginnings, one that was left out does not show.
        return False
    if _wrapped(facts, wait_end) and not _usual_for_all(facts, wait_end):
        return False
    first, *others = wait_end.ranks[:_MOST_COMPARED]
    rows = [
        _row(facts, first, c.group, c.slot)
        for i in wait_end.pending
        if first in (c := facts.waits.pending[i]).waiting
    ]
    begins = min((row["record"] for row in rows if row), default=0)
    for rank in others:
        diverged = facts.programs.against(rank, first)
        if diverged is not None and (diverged.expected is None or diverged.expected[1] < begins):
            return False
    return True


def _usual_for_all(facts: Facts, wait_end: WaitEnd) -> bool:
    """Whether each rank of the circle has made, before, the calls that it has not come to now.

    Where rings have lost their beginnings, a call that some of them never make looks like one that they make later.
    """
    for index in wait_end.pending:
        call = facts.waits.pending[index]
        row = _row(facts, call.waiting[0], call.group, call.slot)
        for rank in {*call.lacking, *call.unknown} & set(wait_end.ranks) if row is not None else ():
            made = facts.call_table.of_rank(rank).filter(pl.col("group") == call.group)
            column = "site" if row is not None and row["site"] is not None else "terms"
            if row is None or not (made[column] == row[column]).any():
                return False
    return True


def _wrapped(facts: Facts, wait_end: WaitEnd) -> bool:
    rows = facts.case.dumps_used.filter(pl.col("rank").is_in(wait_end.ranks))
    return bool(rows["wrapped"].fill_null(False).any())


def _only_order(p: DivergencePoint) -> bool:
    """Left out as far as it got: stopped in the very call that follows the missing one, it may have meant both."""
    return p.kind == "swapped" or (
        p.kind == "skipped" and p.how != "left" and p.confirmed <= 1 and p.length == 1 and _collective(p)
    )


def _collective(p: DivergencePoint) -> bool:
    return p.expected is not None and p.expected["slot"] is not None


def _divergence(facts: Facts, wait_end: WaitEnd, diverged: tuple[int, ...]) -> Divergence:
    """The calls of the circle; first the one that a culprit did not come to in its turn, else the first rank's."""
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    missed = set(diverged)
    calls.sort(key=lambda c: (not missed & {*c.lacking, *c.busy}, min(c.waiting), c.group))
    shown = calls[:4]
    cohorts: list[Cohort] = []
    for call in shown:
        row = _row(facts, call.waiting[0], call.group, call.slot)
        cohorts.append(
            Cohort(ranks=format_ranks(call.waiting), call=lookup.as_call(facts, row) if row else None)
        )
    first = shown[0]
    row = _row(facts, first.waiting[0], first.group, first.slot)
    return Divergence(
        group=lookup.group_words(facts, first.group),
        seq=row["seq"] if row else first.slot,
        kind="cycle",
        cohorts=cohorts,
        members=lookup.members_text(facts, first.group),
    )


def _row(facts: Facts, rank: int, group: int, slot: int | None) -> lookup.Row | None:
    return (
        lookup.call_at(facts, rank, group, slot) if slot is not None else lookup.last_call(facts, rank, group)
    )


def _evidence(facts: Facts, wait_end: WaitEnd) -> tuple[str, ...]:
    ids: list[str] = []
    for i in wait_end.pending[:6]:
        call = facts.waits.pending[i]
        row = _row(facts, call.waiting[0], call.group, call.slot)
        ids += [lookup.evidence_of(row)] if row else []
        for rank in call.lacking[:2]:
            ids += lookup.standing_evidence(facts, rank, call.group)
    return tuple(dict.fromkeys(ids))
