"""Whom each member takes for the root of the collective that it waits in, where stacks show the arguments."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Cohort, Divergence
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase
from rankandfile.reason.words import ranks_words, verb

CAUSE = "root_mismatch"


@heuristic(
    "named roots", "the root that a stack's arguments name is whom the rank takes for it", otherwise={}
)
def named_roots(facts: Facts, call: Pending) -> dict[int, tuple[int, ...]]:
    """Root -> the members that wait in the call and name it; only members that stand in this very call."""
    found: dict[tuple[str, int], list[int]] = {}
    for rank in call.waiting:
        stand, row = facts.hosts.get(rank), lookup.call_at(facts, rank, call.group, call.slot or 0)
        last = lookup.last_call(facts, rank, call.group)
        if stand is None or row is None or last is None or stand.died or stand.asked.root is None:
            continue
        if last["slot"] == call.slot and lookup.op_of(facts, row) == stand.asked.op:
            found.setdefault(stand.asked.root, []).append(rank)
    if len({how for how, _ in found}) != 1:
        return {}
    return {wait_end: tuple(ranks) for (_, wait_end), ranks in sorted(found.items())}


def differently_named(
    facts: Facts, wait_end: WaitEnd, call: Pending, named: dict[int, tuple[int, ...]]
) -> Finding:
    """That they disagree is shown. Who is wrong is, where all but one agree."""
    odd = _odd(named)
    told = "; ".join(
        f"{ranks_words(ranks)} {verb(ranks, 'takes', 'take')} {of} for the root"
        for of, ranks in named.items()
    )
    rows = {
        ranks: row
        for ranks in named.values()
        if (row := lookup.call_at(facts, ranks[0], call.group, call.slot or 0))
    }
    stacks = [facts.hosts[rank].asked.evidence for ranks in named.values() for rank in ranks[:2]]
    shown = (odd or call.waiting)[0]
    return Finding(
        cause=CAUSE,
        confidence="supported" if odd else "established",
        sentence=(
            f"In the {call_phrase(facts, call)}, by the arguments in their stacks, {told}."
            + ("" if odd else " Which of them was meant, the calls do not tell.")
        ),
        culprits=odd,
        doing=dict.fromkeys(odd, "names another root than the other members"),
        divergence=Divergence(
            group=lookup.group_words(facts, call.group),
            seq=next((row["seq"] for row in rows.values()), call.slot),
            kind="argument",
            cohorts=[
                Cohort(ranks=format_ranks(ranks), call=lookup.as_call(facts, rows[ranks], f"root {of}"))
                for of, ranks in named.items()
                if ranks in rows
            ],
            members=lookup.members_text(facts, call.group),
        ),
        location=lookup.location_of(facts, lookup.call_at(facts, shown, call.group, call.slot or 0)),
        evidence=(*stacks, *(lookup.evidence_of(row) for row in rows.values())),
        contradicted_by="a later snapshot in which all name the same root",
        alternatives=()
        if odd
        else tuple(
            Alternative(
                cause=CAUSE,
                confidence="hypothesis",
                sentence=f"{ranks_words(ranks).capitalize()} {verb(ranks, 'names', 'name')} the wrong root.",
                culprits=format_ranks(ranks),
                decided_by="the source of the argument",
            )
            for ranks in list(named.values())[:4]
        ),
        explains=len(wait_end.victims),
    )


def _odd(named: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    """The few that name another root than all the others, if these are more than one and more than they."""
    most = max(named.values(), key=len)
    odd = tuple(sorted(rank for ranks in named.values() if ranks is not most for rank in ranks))
    return odd if len(most) > max(1, len(odd)) else ()
