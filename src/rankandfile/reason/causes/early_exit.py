"""A rank left the loop that its peers are still in, and came to a call that lies behind it."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup as look
from rankandfile.reason.divergence.find import parted
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Root
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper, verb

from . import shown

CAUSE = "early_exit"


def find(facts: Facts, root: Root) -> Finding | None:
    p = parted(facts, root)
    if p is None or p.how != "left" or not p.culprits or p.expected is None or p.came is None:
        return None
    where = p.place
    sentence = (
        f"{upper(ranks_words(p.culprits))} left the loop early: {verb(p.culprits, 'it is', 'they are')} in the "
        f"{look.call_words(facts, p.came)} behind it, where {ranks_words(p.normal)} "
        f"{verb(p.normal, 'makes', 'make')} the {look.call_words(facts, p.expected)}"
        f"{f', in {where}' if where else ''}."
    )
    return Finding(
        cause=CAUSE,
        confidence="supported",
        sentence=f"{sentence} {waiting_sentence(facts, root, p.culprits)}".strip(),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, f"left the loop, and is in the {look.call_words(facts, p.came)}"),
        divergence=shown.divergence(facts, p, "skipped"),
        location=look.location_of(facts, p.expected),
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
        explains=len(root.victims),
    )
