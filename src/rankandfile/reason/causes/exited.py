"""Its process ended with an error code, and nothing says of an exception."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject

CAUSE = "exited"


def tell(facts: Facts, subject: Subject) -> Story | None:
    accounts = facts.accounts
    end = accounts.ends.get(subject.rank)
    if end is None or end.kind != "exited" or subject.rank in accounts.echoes:
        return None
    if subject.rank not in accounts.logged and any(one.kind == "killed" for one in accounts.ends.values()):
        # Who loses a peer ends with an error, too: without its log nothing says that it was the first.
        return None
    return Story(
        cause=CAUSE,
        confidence="established" if subject.rank in accounts.logged and not end.contradicted else "supported",
        doing=end.words + (", without a word of an exception" if subject.rank in accounts.logged else ""),
        evidence=end.evidence,
        alternatives=(
            Alternative(
                cause="raised",
                confidence="hypothesis",
                sentence="An exception may have ended it, and its message been lost.",
                culprits=str(subject.rank),
                decided_by="its stderr, or the error file of the launcher",
            ),
        ),
        contradicted=end.contradicted,
    )
