"""A rank made the same calls on one group as its peers, in another order."""

from __future__ import annotations

from rankandfile.reason import lookup
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper

from . import shown

CAUSE = "order_inversion"


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.kind != "swapped" or not p.culprits:
        return None
    came = f"the {lookup.call_words(facts, p.came)}" if p.came else "another call"
    expected = f"the {lookup.call_words(facts, p.expected)}" if p.expected else "another"
    where = p.place
    sentence = (
        f"{upper(ranks_words(p.culprits))} made {came} where {ranks_words(p.normal)} made {expected}"
        f"{f', in {where}' if where else ''}, and the other one after it: the same calls in another order."
    )
    return Finding(
        cause=CAUSE,
        confidence="established",
        sentence=f"{sentence} {waiting_sentence(facts, wait_end, p.culprits)}".strip(),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, f"made {came} first"),
        divergence=shown.divergence(facts, p, "swapped"),
        location=lookup.location_of(facts, p.came),
        evidence=shown.evidence(facts, p),
        contradicted_by="a branch on which the minority's order is the right one",
        explains=len(wait_end.victims),
    )
