"""All members joined and, as far as their devices tell, began; none finishes."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason import look
from rankandfile.reason.facts import Facts
from rankandfile.reason.patience import Patience, patience
from rankandfile.reason.waiting import call_phrase, pending_row
from rankandfile.reason.waits import Root
from rankandfile.reason.words import ranks_words, verb

from .finding import Finding

CAUSE = "network_stalled"


def find(facts: Facts, root: Root) -> Finding | None:
    if root.kind != "joined":
        return None
    call = facts.waits.pending[root.pending[0]]
    if not call.begun or call.slot is None:
        return None
    if patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        # A collective that all have begun and none has finished is in any running job.
        return None
    row = pending_row(facts, call)
    sentence = (
        f"All members joined the {call_phrase(facts, call)} with the same arguments, and every device began it, but "
        f"{ranks_words(call.waiting)} {verb(call.waiting, 'does', 'do')} not finish it. No rank is behind: suspect "
        "what lies between them, the network."
    )
    return Finding(
        cause=CAUSE,
        confidence="supported",
        sentence=sentence,
        evidence=tuple([look.evidence_of(row)] if row else []),
        contradicted_by="a member whose device has not begun the collective",
        alternatives=(
            Alternative(
                cause="link_error",
                confidence="hypothesis",
                sentence="One link or adapter may have failed.",
                decided_by="NCCL's log, the kernel log and the switch's counters",
            ),
        ),
        explains=len(root.victims),
    )
