"""A rank left the loop that its peers are still in, and came to a call that lies behind it."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper, verb

from . import shown

CAUSE = "early_exit"


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.how != "left" or not p.culprits or p.expected is None or p.came is None:
        return None
    where = p.place
    sentence = (
        f"{upper(ranks_words(p.culprits))} left the loop early: {verb(p.culprits, 'it is', 'they are')} in the "
        f"{lookup.call_words(facts, p.came)} behind it, where {ranks_words(p.normal)} "
        f"{verb(p.normal, 'makes', 'make')} the {lookup.call_words(facts, p.expected)}"
        f"{f', in {where}' if where else ''}."
    )
    return Finding(
        cause=CAUSE,
        confidence="supported",
        sentence=f"{sentence} {waiting_sentence(facts, wait_end, p.culprits)}".strip(),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, f"left the loop, and is in the {lookup.call_words(facts, p.came)}"),
        divergence=shown.divergence(facts, p, "skipped"),
        location=lookup.location_of(facts, p.expected),
        evidence=shown.evidence(facts, p),
        contradicted_by="a path inside the loop that leads to the call",
        alternatives=(
            Alternative(
                cause="uneven_inputs",
                confidence="hypothesis",
                sentence="Its share of the data may have ended before that of the others.",
                culprits=format_ranks(p.culprits),
                decided_by="the number of batches per rank",
            ),
            Alternative(
                cause="swallowed_exception",
                confidence="hypothesis",
                sentence="An exception may have ended the loop and been caught.",
                culprits=format_ranks(p.culprits),
                decided_by="its log",
            ),
        ),
        explains=len(wait_end.victims),
    )
