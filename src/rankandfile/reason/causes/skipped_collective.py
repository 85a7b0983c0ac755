"""A rank left out a collective that its peers made, and went on: from there on it is out of step."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason import lookup
from rankandfile.reason.calls.lost_history import missing_history
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.divergence.point import DivergencePoint
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import behind_words, counted, ranks_words, upper, verb

from . import shown

CAUSE = "skipped_collective"


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.kind != "skipped" or not p.culprits:
        return None
    row = p.expected
    missed = f"the {lookup.call_words(facts, row)}" if row else "a collective"
    if p.length > 1:
        missed = f"{counted(p.length, 'call')}, beginning with {missed}"
    where = f"{',' if p.length > 1 else ''} in {p.place}" if p.place else ""
    its = verb(p.culprits, "its", "their")
    sentence = (
        f"{upper(ranks_words(p.culprits))} skipped {missed}{where}; "
        f"from there on {its} calls are {behind_words(p.length)}."
    )
    if not p.exact:
        sentence = shown.since_before(facts, p, "behind")
    if p.stands:
        stand = facts.hosts[p.culprits[0]]
        sentence = (
            f"{upper(ranks_words(p.culprits))} went past {missed}{where}, which "
            f"{ranks_words(p.normal)} made at that point: {its} {verb(p.culprits, 'stack stands', 'stacks stand')} "
            f"behind it, {stand.phrase}."
        )
    waits = waiting_sentence(facts, wait_end, p.culprits)
    return Finding(
        cause=CAUSE,
        confidence="established" if _sure(p) else "supported",
        sentence=f"{sentence} {waits}".strip(),
        culprits=p.culprits,
        doing={r: _doing(facts, p, r) for r in p.culprits},
        divergence=shown.divergence(facts, p, "skipped"),
        location=lookup.location_of(facts, row) if p.exact else None,
        evidence=shown.evidence(facts, p),
        contradicted_by="a record of the missing call on the rank, or a branch that lets the others make it alone",
        alternatives=_alternatives(facts, p),
        missing=() if p.exact else missing_history(facts.case, facts.call_table, p.group),
        explains=len(wait_end.victims),
    )


def _sure(p: DivergencePoint) -> bool:
    """One more call in place could be chance; a bare majority is a convention, not a proof; and what the rings lost
    may have been more than one call."""
    return p.exact and p.confirmed >= 2 and len(p.normal) >= 2 * len(p.culprits)


def _doing(facts: Facts, p: DivergencePoint, rank: int) -> str:
    if p.stands:
        return f"went past it, and is {facts.hosts[rank].words}"
    return f"went on to the {lookup.call_words(facts, p.came)}" if p.came else "went on without it"


def _alternatives(facts: Facts, p: DivergencePoint) -> tuple[Alternative, ...]:
    if not p.exact or p.confirmed >= 2 or p.came is None:
        return ()
    came = lookup.call_words(facts, p.came)
    return (
        Alternative(
            cause="order_inversion",
            confidence="hypothesis",
            sentence=f"It may have meant to make the missing call after the {came}, in the other order.",
            decided_by="the code that follows that call on this rank",
        ),
    )
