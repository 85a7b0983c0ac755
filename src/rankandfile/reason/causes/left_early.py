"""Its program came to its end, and its process exited well, while the others still wait for it."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject

CAUSE = "early_exit"


def tell(facts: Facts, subject: Subject) -> Story | None:
    end = facts.accounts.ends.get(subject.rank)
    if end is None or end.kind != "finished" or _others_went_on(facts, subject):
        return None
    return Story(
        cause=CAUSE,
        confidence="supported",
        doing=f"left the program early, and {end.words}",
        evidence=end.evidence,
        alternatives=(
            Alternative(
                cause="uneven_inputs",
                confidence="hypothesis",
                sentence="Its share of the data may have ended before that of the others.",
                culprits=str(subject.rank),
                decided_by="the number of batches per rank",
            ),
        ),
        contradicted=end.contradicted,
    )


def _others_went_on(facts: Facts, subject: Subject) -> bool:
    """Whoever waited for it ended well too: so it came, and the wait was over."""
    ends = facts.accounts.ends
    return any(rank in ends and ends[rank].kind == "finished" for rank in subject.waiting)
