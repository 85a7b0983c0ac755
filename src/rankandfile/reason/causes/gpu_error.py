"""Its own device failed: an error of CUDA that its process met, or an Xid of its GPU. No timeout is implied."""

from __future__ import annotations

from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject, location_of

CAUSE = "gpu_error"


def tell(facts: Facts, subject: Subject) -> Story | None:
    error = facts.accounts.device.get(subject.rank)
    if error is None:
        return None
    return Story(
        cause=CAUSE,
        # The process and the kernel say the same, each on its own.
        confidence="established" if len(error.evidence) > 1 else "supported",
        doing=f"its device failed: {error.words}",
        evidence=error.evidence,
        location=location_of(error.place),
    )
