"""Every other rank waits and says so; this one left no dump, is alive, and its watchdog gave up on nothing.

Had it joined a call that does not end, its own watchdog would have reported as all others' did. So it is held up on
its host, before any call. All of this is absence of evidence, and counts only where nobody else is silent.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Confidence
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject, world_of
from rankandfile.reason.waits.unrecorded_waits import named_after_a_transfer

CAUSE = "host_blocked"


@heuristic("alive and mute", "the only rank whose watchdog gave up on nothing is held on its host")
def tell(facts: Facts, subject: Subject) -> Story | None:
    accounts, rank = facts.accounts, subject.rank
    answered = [r.evidence for r in accounts.of_rank.get(rank, ()) if r.seq is None]
    if subject.proved or rank not in accounts.logged or not (accounts.alive(rank) or answered):
        return None
    if any(rank in told for told in (accounts.raised, accounts.echoes, accounts.gave_up)):
        return None
    size = world_of(facts)
    if size < 2 or len(accounts.gave_up) < size - 1:
        return None
    others = set(range(size)) - {rank}
    if not others <= accounts.gave_up:
        return None
    stand, end = facts.hosts.get(rank), accounts.ends.get(rank)
    confidence: Confidence = "supported"
    if stand is not None:
        if stand.activity != "user_code" or stand.died or named_after_a_transfer(stand):
            return None
        doing = stand.words
    elif answered:
        doing = "answered the dump signal, but wrote no dump, and its watchdog gave up on nothing: held up on the host"
    elif others <= facts.hosts.keys():
        doing = (
            "alive, but silent: no dump, no stack, no word from its watchdog, where all others left all three"
        )
        confidence = "hypothesis"
    else:
        return None
    return Story(
        cause=CAUSE,
        confidence=confidence,
        doing=doing,
        evidence=(*(stand.evidence if stand else ()), *answered[:1], *(end.evidence if end else ())),
        location=stand.location if stand else None,
        alternatives=(
            Alternative(
                cause="peer_unreachable",
                confidence="hypothesis",
                sentence="Its host may be cut off, and what it wrote not have arrived.",
                culprits=str(rank),
                decided_by="whether its host answers, and what its process does there",
            ),
        ),
        absence=True,
    )
