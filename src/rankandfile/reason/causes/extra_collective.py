"""A rank made a collective that its peers did not make."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.calls.lost_history import missing_history
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ahead_words, counted, ranks_words, upper, verb

from . import shown

CAUSE = "extra_collective"


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.kind != "extra" or not p.culprits:
        return None
    made = f"the {lookup.call_words(facts, p.came)}" if p.came else "a collective"
    if p.length > 1:
        made = f"{counted(p.length, 'call')}, beginning with {made}"
    where = f" in {p.place}" if p.place else ""
    its = verb(p.culprits, "its", "their")
    sentence = (
        f"{upper(ranks_words(p.culprits))} made {made}{',' if p.length > 1 else ''} that the other ranks of the group "
        f"did not make{where}; from there on {its} calls are {ahead_words(p.length)}."
    )
    if not p.exact:
        sentence = shown.since_before(facts, p, "ahead")
    waits = waiting_sentence(facts, wait_end, p.culprits)
    sure = p.exact and p.confirmed >= 2 and len(p.normal) >= 2 * len(p.culprits)
    unclear = p.exact and p.confirmed == 1 and not p.past
    ways = shown.ways_of(facts, p) if unclear else None
    if ways is not None:
        # One call that falls into place may as well be the others' call made late.
        sentence += f" {shown.ways_words(ways)}"
    return Finding(
        cause=CAUSE if ways is None else "rank_conditional",
        confidence="established" if sure else "supported",
        sentence=f"{sentence} {waits}".strip(),
        culprits=p.culprits,
        doing=dict.fromkeys(
            p.culprits, f"made {made.rstrip(',')} alone" if p.exact else "made more calls than they"
        ),
        divergence=shown.divergence(facts, p, "extra"),
        location=lookup.location_of(facts, p.came) if p.exact else None,
        evidence=shown.evidence(facts, p),
        contradicted_by="a branch on which all ranks should have made the call, so that the others left it out",
        alternatives=()
        if ways is None
        else tuple(
            Alternative(
                cause=cause,
                confidence="hypothesis",
                sentence=words,
                culprits=format_ranks(p.culprits),
                decided_by="the calls that would follow, or the source at these lines",
            )
            for cause, words in (
                (CAUSE, "The call may be one that its peers never make."),
                ("order_inversion", "Its peers may make the same call, only later."),
            )
        ),
        missing=() if p.exact else missing_history(facts.case, facts.call_table, p.group),
        explains=len(wait_end.victims),
    )
