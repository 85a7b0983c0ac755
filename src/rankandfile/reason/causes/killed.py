"""Its process was killed: by a signal that it did not send itself, or for want of memory."""

from __future__ import annotations

from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject

CAUSE = "killed"


def tell(facts: Facts, subject: Subject) -> Story | None:
    end = facts.accounts.ends.get(subject.rank)
    if end is None or end.kind != "killed":
        return None
    return Story(
        cause=CAUSE,
        confidence="supported" if end.contradicted else "established",
        doing=end.words,
        evidence=end.evidence,
        contradicted=end.contradicted,
    )
