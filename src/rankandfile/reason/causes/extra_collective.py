"""A rank made a collective that its peers did not make."""

from __future__ import annotations

from rankandfile.reason import look
from rankandfile.reason.facts import Facts
from rankandfile.reason.parted import parted
from rankandfile.reason.waiting import waiting_sentence
from rankandfile.reason.waits import Root
from rankandfile.reason.words import ahead_words, counted, ranks_words, upper, verb

from . import shown
from .finding import Finding

CAUSE = "extra_collective"


def find(facts: Facts, root: Root) -> Finding | None:
    p = parted(facts, root)
    if p is None or p.kind != "extra" or not p.culprits:
        return None
    made = f"the {look.call_words(facts, p.came)}" if p.came else "a collective"
    if p.length > 1:
        made = f"{counted(p.length, 'call')}, beginning with {made},"
    where = p.place
    its = verb(p.culprits, "its", "their")
    sentence = (
        f"{upper(ranks_words(p.culprits))} made {made} that the other ranks of the group did not make"
        f"{f' in {where}' if where else ''}; from there on {its} calls are {ahead_words(p.length)}."
    )
    waits = waiting_sentence(facts, root, p.culprits)
    sure = p.confirmed >= 2 and len(p.normal) >= 2 * len(p.culprits)
    return Finding(
        cause=CAUSE,
        confidence="established" if sure else "supported",
        sentence=f"{sentence} {waits}".strip(),
        culprits=p.culprits,
        doing={r: f"made {made.rstrip(',')} alone" for r in p.culprits},
        divergence=shown.divergence(facts, p, "extra"),
        location=look.location_of(facts, p.came),
        evidence=shown.evidence(facts, p),
        contradicted_by="a branch on which all ranks should have made the call, so that the others left it out",
        explains=len(root.victims),
    )
