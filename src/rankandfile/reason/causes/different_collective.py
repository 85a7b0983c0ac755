"""At one point a rank made another collective than its peers.

Where the ways to the two calls part within one function, a condition or a loop of that function led the ranks along
different ways: that says more than that their calls differ.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.divergence.point import DivergencePoint
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper

from . import shown

CAUSE = "different_collective"


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.kind != "substituted" or not p.culprits:
        return None
    if p.how == "left":
        return None
    came = f"the {lookup.call_words(facts, p.came)}" if p.came else "another call"
    expected = f"the {lookup.call_words(facts, p.expected)}" if p.expected else "another"
    where = p.place
    sentence = (
        f"{upper(ranks_words(p.culprits))} made {came} where {ranks_words(p.normal)} made {expected}"
        f"{f', in {where}' if where else ''}."
    )
    ways = shown.ways_of(facts, p)
    if ways is not None:
        sentence += f" {shown.ways_words(ways)}"
    waits = waiting_sentence(facts, wait_end, p.culprits)
    return Finding(
        cause="rank_conditional" if ways is not None and p.how != "before" else CAUSE,
        confidence="established",
        sentence=f"{sentence} {waits}".strip(),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, f"made {came} instead"),
        divergence=shown.divergence(facts, p, p.kind),
        location=lookup.location_of(facts, p.came),
        evidence=shown.evidence(facts, p),
        contradicted_by="a branch on which the minority's call is the right one",
        alternatives=_alternatives(p, ways is not None),
        explains=len(wait_end.victims),
    )


def _alternatives(p: DivergencePoint, by_condition: bool) -> tuple[Alternative, ...]:
    others = (
        ("different_collective", "The two calls may stand for each other, on two branches.", by_condition),
        (
            "extra_collective",
            "The call may be one more than its peers make, and not instead of theirs.",
            True,
        ),
    )
    return tuple(
        Alternative(
            cause=cause,
            confidence="hypothesis",
            sentence=sentence,
            culprits=format_ranks(p.culprits),
            decided_by="the calls that would follow it, or the source around it",
        )
        for cause, sentence, applies in others
        if applies
    )
