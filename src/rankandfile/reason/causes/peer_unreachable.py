"""Its host is gone from the network: a node that failed, or processes that nobody reaches any more."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject
from rankandfile.reason.waits.ended_ranks import died_first

CAUSE = "peer_unreachable"


def tell(facts: Facts, subject: Subject) -> Story | None:
    error = facts.accounts.unreachable.get(subject.rank)
    if error is None or died_first(facts.accounts, subject.rank):
        return None
    return Story(
        cause=CAUSE,
        confidence="supported",
        doing=error.words,
        evidence=error.evidence,
        alternatives=(
            Alternative(
                cause="killed",
                confidence="hypothesis",
                sentence="Its process may have been killed while the host lives on.",
                culprits=str(subject.rank),
                decided_by="whether the host answers",
            ),
        ),
    )
