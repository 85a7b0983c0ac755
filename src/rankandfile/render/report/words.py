"""Short words for what the document says in one."""

from __future__ import annotations

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.ranks import format_ranks

CONFIDENCE = {
    "established": "it follows from the evidence",
    "supported": "the evidence agrees; another explanation remains",
    "hypothesis": "nothing speaks against it; it is not proved",
}

STATES = {
    "issued": "issued: put into the queue, not known to have begun",
    "started": "started: begun on the device, not known to have ended",
    "completed": "completed",
    "ended": "ended: finished or failed, the recorder does not say which",
}


def headline(verdict: Verdict) -> str:
    """The cause in words; where only the culprit is known, that."""
    if verdict.cause == "no_hang":
        return "No hang"
    if verdict.cause == "undetermined" and verdict.culprits:
        ranks = format_ranks(culprit.rank for culprit in verdict.culprits)
        return f"{'Ranks' if len(verdict.culprits) > 1 else 'Rank'} {ranks} did not join; why is open"
    return verdict.cause.replace("_", " ").capitalize()
