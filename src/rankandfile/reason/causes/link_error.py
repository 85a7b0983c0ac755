"""Its own network adapter reported a fault of the port or the link."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject

CAUSE = "link_error"


def tell(facts: Facts, subject: Subject) -> Story | None:
    error = facts.accounts.link.get(subject.rank)
    if error is None:
        return None
    return Story(
        cause=CAUSE,
        confidence="supported",
        doing=f"its network adapter failed: {error.words}",
        evidence=error.evidence,
        alternatives=(
            Alternative(
                cause="network_stalled",
                confidence="hypothesis",
                sentence="The fault may lie elsewhere in the fabric, and its port only have noticed.",
                decided_by="the kernel log of its host and the switch's counters",
            ),
        ),
    )
