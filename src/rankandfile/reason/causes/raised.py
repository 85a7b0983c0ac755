"""It raised an exception of its own, and ended, or is on its way out."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Confidence
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject, location_of

CAUSE = "raised"

#: What a process still does after an exception that nobody caught.
_LEAVING = ("teardown", "exception")


def tell(facts: Facts, subject: Subject) -> Story | None:
    error = facts.accounts.raised.get(subject.rank)
    if error is None or error.thread is not None:
        return None
    end = facts.accounts.ends.get(subject.rank)
    stand = facts.hosts.get(subject.rank)
    doing = f"raised {error.words}"
    evidence = error.evidence
    confidence: Confidence = "supported"
    alternatives: tuple[Alternative, ...] = ()
    if end is not None and end.kind == "exited":
        doing, evidence, confidence = f"{doing}, and {end.words}", (*evidence, *end.evidence), "established"
    elif stand is not None and stand.activity in _LEAVING:
        doing, evidence = f"{doing}, and is {stand.words}", (*evidence, *stand.evidence)
    elif stand is not None:
        # It goes on: whoever raised was caught.
        return None
    else:
        alternatives = (
            Alternative(
                cause="swallowed_exception",
                confidence="hypothesis",
                sentence="The exception may have been caught, and the program gone on without the call.",
                culprits=str(subject.rank),
                decided_by="its stack or its exit code",
            ),
        )
    return Story(
        cause=CAUSE,
        confidence=confidence,
        doing=doing,
        evidence=evidence,
        location=location_of(error.place),
        alternatives=alternatives,
        contradicted=end.contradicted if end else (),
    )
