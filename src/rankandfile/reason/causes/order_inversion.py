"""A circle of waits: ranks come to two collectives of different groups in opposite order."""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.model.advice import OUT_OF_STEP, STACKS
from rankandfile.model.causes import Cause
from rankandfile.model.claims import InCall
from rankandfile.model.diagnosis import Remedy
from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import Presumed, told
from rankandfile.reason.claims.in_words import circle
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    DivergencePoint,
    Facts,
    Pending,
    WaitEnd,
    absent_ranks,
    against_most,
    as_many_kept_it,
    changed_their_order,
    cited,
    cohort,
    diverged,
    find_divergence,
    first_time,
    goes_without,
    goes_without_several,
    gone_by,
    in_calls,
    in_document,
    lookup,
    pending_row,
    pl,
    threads,
    waiting_sentence,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="order_inversion",
    family="paths",
    place=40,
    meaning="Ranks made the same collectives in different orders.",
    help="Each waits in a call that the other will only make afterwards. Look for calls whose order depends "
    "on hooks, threads, streams, sets or dictionaries.",
    remedies=(
        Remedy(
            title="Issue the collectives of all groups in one order",
            text="Every rank must come to the calls of the circle in the same order, also across groups and "
            "across threads or hooks that issue them.",
        ),
    ),
    anti_advice=(OUT_OF_STEP, "Do not add a barrier before one of the calls only: it joins the circle."),
    probes=(STACKS,),
    did="made collectives in another order",
    title="The same calls in another order",
    page="""
## How it comes about

Two groups, two calls, two orders:

```python
# rank 0                         # rank 1
all_reduce(a, group=dp)          all_reduce(b, group=tp)
all_reduce(b, group=tp)          all_reduce(a, group=dp)
```

Each rank waits in a call that the other comes to later: a circle, in which nobody is to blame alone. The verdict shows
the whole circle with its call sites. Orders differ where they come from a set, from hooks that fire as gradients
arrive, or from two threads.
""",
    scenario="order_inversion_dp_tp",
)


@finder(precedence=100)
def in_one_group(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """A rank made the same calls on one group as its peers, in another order."""
    p = find_divergence(facts, wait_end)
    if p is None or p.kind != "swapped" or not p.culprits:
        return None
    came = f"the {lookup.call_words(facts, p.came)}" if p.came else "another call"
    expected = f"the {lookup.call_words(facts, p.expected)}" if p.expected else "another"
    where = p.place
    sentence = (
        f"{upper(ranks_words(p.culprits))} made {came} where {ranks_words(p.normal)} made {expected}"
        f"{f', {where}' if where else ''}, and the other one after it: the same calls in another order."
    )
    thread = threads.of_another_thread(facts, p.came, p.expected)
    return Finding(
        cause=CAUSE.word,
        confidence="established",
        sentence=told(sentence, threads.in_words(thread), waiting_sentence(facts, wait_end, p.culprits)),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, f"made {came} first"),
        divergence=in_document.divergence(facts, p, "swapped"),
        location=thread.call if thread else lookup.location_of(facts, p.came),
        evidence=in_document.evidence(facts, p),
        contradicted_by="a branch on which the minority's order is the right one",
    )


_FEWEST_MEMBERS, _FEWEST_CALLS = 3, 2
_MOST_MEMBERS = 64


@finder(precedence=110)
@heuristic("an order for each", "equal calls of which every member has its own order: no order is right")
def each_in_its_own(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """Every member makes the same calls from the same place, each in an order of its own: no order is the right one."""
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
    orders = {rank: tuple(rows.select("terms", "path").iter_rows()) for rank, rows in made.items()}
    # What one has not come to yet is missing in its order, and would look like another call.
    if len({len(order) for order in orders.values()}) != 1 or not _same_but_for_order(list(orders.values())):
        return None
    rows = {rank: made[rank].row(0, named=True) for rank in members}
    here = lookup.call_words(facts, rows[members[0]])
    return Finding(
        cause=CAUSE.word,
        confidence="established",
        sentence=told(
            f"{upper(ranks_words(members))} make the same {len(orders[members[0]])} calls from seq {first} on, each in "
            f"another order, beginning at the {here} (group {lookup.group_words(facts, group)}). No order is that of "
            "most ranks.",
            waiting_sentence(facts, wait_end, tuple(members)),
        ),
        culprits=tuple(members),
        doing=dict.fromkeys(members, "makes the calls in an order of its own"),
        divergence=diverged(
            facts,
            group,
            seq=rows[members[0]]["seq"],
            kind="swapped",
            cohorts=[
                cohort(facts, [rank], row, lookup.size_words(facts, row))
                for rank, row in list(rows.items())[:8]
            ],
        ),
        location=lookup.location_of(facts, rows[members[0]]),
        evidence=tuple(lookup.evidence_of(row) for row in list(rows.values())[:8]),
        contradicted_by="a rank of the group whose calls are others",
    )


def _same_but_for_order(orders: Sequence[tuple[object, ...]]) -> bool:
    """The same calls, and no two members in the same order."""
    if len(orders[0]) < _FEWEST_CALLS or len(set(orders)) < len(orders):
        return False
    return len({tuple(sorted(order, key=repr)) for order in orders}) == 1


_MOST_COMPARED = 48


@finder(precedence=120)
def across_groups(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "cycle":
        return None
    p = find_divergence(facts, wait_end)
    if p is not None and (p.culprits or p.against is not None) and not _only_order(facts, wait_end, p):
        # A call left out or added explains the circle.
        return None
    if goes_without(facts, wait_end):
        return None
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    out_of_order = p.culprits if p is not None else changed_their_order(facts, wait_end)
    if not out_of_order and not _same_until_now(facts, wait_end):
        return None
    by_most = against_most(facts, wait_end)
    if set(out_of_order) != set(by_most) and as_many_kept_it(facts, wait_end, out_of_order):
        out_of_order = ()
    by_most = () if out_of_order else by_most
    open_ = not out_of_order and not by_most and first_time(facts, wait_end)
    out_of_order = out_of_order or by_most
    culprits = out_of_order or wait_end.ranks
    who = (
        f"{upper(ranks_words(culprits))} {verb(culprits, 'comes', 'come')} to them in another order than the "
        "other ranks"
        if out_of_order
        else "No order is that of most ranks"
    )
    who += ", and no round before shows the right one." if open_ else "."
    thread = threads.of_another_thread(facts, *(pending_row(facts, call) for call in calls[:4]))
    return Finding(
        cause=CAUSE.word,
        confidence="hypothesis" if open_ else "supported" if by_most else "established",
        sentence=told(
            circle(wait_end.ranks, [_edge(facts, wait_end, call) for call in calls[:4]]),
            # A rank that, as the source shows, comes to only one of the calls has no other order.
            Presumed(what="another order", words=who) if out_of_order else who,
            threads.in_words(thread),
        ),
        location=thread.call if thread else None,
        culprits=culprits,
        doing=dict.fromkeys(culprits, "in the circle"),
        divergence=in_document.circle(facts, wait_end, out_of_order),
        evidence=_evidence(facts, wait_end),
        contradicted_by="a call of the circle that has in fact finished",
    )


def _edge(facts: Facts, wait_end: WaitEnd, call: Pending) -> list[InCall]:
    """Those of the circle that wait there."""
    outside = set(call.waiting) - set(wait_end.ranks)
    return in_calls(facts, call, outside if outside < set(call.waiting) else ())


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
        in_document.circle_row(facts, first, c.group, c.slot)
        for i in wait_end.pending
        if first in (c := facts.waits.pending[i]).waiting
    ]
    begins = min((row["record"] for row in rows if row), default=0)
    for rank in others:
        out_of_order = facts.programs.against(rank, first)
        if out_of_order is not None and (out_of_order.expected is None or out_of_order.expected[1] < begins):
            return False
    return True


def _usual_for_all(facts: Facts, wait_end: WaitEnd) -> bool:
    """Whether each rank of the circle has made, before, the calls that it has not come to now.

    Where rings have lost their beginnings, a call that some of them never make looks like one that they make later.
    """
    for index in wait_end.pending:
        call = facts.waits.pending[index]
        row = in_document.circle_row(facts, call.waiting[0], call.group, call.slot)
        for rank in {*call.lacking, *call.unknown} & set(wait_end.ranks) if row is not None else ():
            made = facts.call_table.of_rank(rank).filter(pl.col("group") == call.group)
            column = "path" if row is not None and row["path"] is not None else "terms"
            if row is None or not (made[column] == row[column]).any():
                return False
    return True


def _wrapped(facts: Facts, wait_end: WaitEnd) -> bool:
    rows = facts.case.dumps_used.filter(pl.col("rank").is_in(wait_end.ranks))
    return bool(rows["wrapped"].fill_null(False).any())


def _only_order(facts: Facts, wait_end: WaitEnd, p: DivergencePoint) -> bool:
    """Left out as far as it got: stopped in the very call that follows the missing one, it may have meant both. Where
    all of the circle have come to all of its calls, it has made the missing one right after that."""
    late = 1 if any(facts.waits.pending[i].lacking for i in wait_end.pending) else 2
    numbered = p.expected is not None and p.expected["slot"] is not None
    if p.kind == "skipped" and p.how != "left" and p.confirmed <= late and p.length == 1 and numbered:
        return not goes_without_several(facts, p) and not gone_by(facts, p)
    return p.kind == "swapped"


def _evidence(facts: Facts, wait_end: WaitEnd) -> tuple[str, ...]:
    ids: list[str] = []
    for i in wait_end.pending[:6]:
        call = facts.waits.pending[i]
        row = in_document.circle_row(facts, call.waiting[0], call.group, call.slot)
        ids += [*cited(row)]
        for rank in call.lacking[:2]:
            ids += lookup.standing_evidence(facts, rank, call.group)
    return tuple(dict.fromkeys(ids))
