"""It is on its way: its stack moved between snapshots. It is late, and not stuck in one place."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject

CAUSE = "host_slow"


def tell(facts: Facts, subject: Subject) -> Story | None:
    stand = facts.hosts.get(subject.rank)
    if stand is None or not stand.moving or stand.waits == "ranks":
        return None
    if stand.waits == "maybe" and not (subject.proved and stand.activity == "user_code"):
        return None
    return Story(
        cause=CAUSE,
        confidence="supported",
        doing=stand.words,
        evidence=stand.evidence,
        location=stand.location,
        alternatives=(
            Alternative(
                cause="host_blocked",
                confidence="hypothesis",
                sentence="It may turn in a loop that never ends.",
                culprits=str(subject.rank),
                decided_by="whether it ever comes to the call",
            ),
        ),
    )
