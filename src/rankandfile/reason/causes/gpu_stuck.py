"""All members joined; one member's device has not begun the collective while the others' have.

Where the devices' starts are not recorded, a watchdog that stood still tells of its device, if it alone did.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Cohort, Divergence
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject
from rankandfile.reason.ranks.standstill import stands_still
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import call_phrase
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = "gpu_stuck"


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "behind":
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    assert call.slot is not None
    waited = patience(facts, call)
    if waited in (Patience.NOT_YET, Patience.LATE):
        # A long kernel looks the same until the timeout is over.
        return None
    if waited is Patience.UNKNOWN and not stands_still(facts, wait_end):
        return None
    begun = tuple(r for r in call.waiting if r not in call.behind)
    rows = [lookup.call_at(facts, ranks[0], call.group, call.slot) for ranks in (call.behind, begun) if ranks]
    known = [row for row in rows if row is not None]
    its = verb(call.behind, "its device has", "their devices have")
    sentence = (
        f"All members joined the {call_phrase(facts, call)}, but {ranks_words(call.behind)} only on the host: "
        f"{its} not begun it, and the devices of {ranks_words(begun) if begun else 'the others'} have. "
        f"Whatever {verb(call.behind, 'its', 'their')} device was given before this call has not ended."
    )
    return Finding(
        cause=CAUSE,
        confidence="supported",
        sentence=upper(sentence),
        culprits=call.behind,
        doing=dict.fromkeys(call.behind, "its device is still busy with work issued before the collective"),
        divergence=Divergence(
            group=lookup.group_words(facts, call.group),
            seq=known[0]["seq"] if known else call.slot,
            kind="absent",
            cohorts=[
                Cohort(ranks=format_ranks(ranks), call=lookup.as_call(facts, row, row_state))
                for ranks, row, row_state in zip(
                    [r for r in (call.behind, begun) if r],
                    known,
                    ("issued, not begun", "begun"),
                    strict=False,
                )
            ],
            members=lookup.members_text(facts, call.group),
        ),
        evidence=tuple(lookup.evidence_of(row) for row in known),
        contradicted_by="a start time of the call on that rank, or a host that waits before launching it",
        alternatives=(
            Alternative(
                cause="gpu_error",
                confidence="hypothesis",
                sentence="The device may have failed rather than be busy.",
                culprits=format_ranks(call.behind),
                decided_by="the kernel log of its host (Xid lines) and the rank's log (CUDA error)",
            ),
        ),
        explains=len(wait_end.victims),
    )


def tell(facts: Facts, subject: Subject) -> Story | None:
    """Its watchdog stood still, where others' ran and gave up: a call to its device did not come back."""
    accounts, rank = facts.accounts, subject.rank
    error = accounts.stuck_watchdogs.get(rank)
    if error is None or subject.proved or not set(subject.waiting) & accounts.gave_up:
        return None
    return Story(
        cause=CAUSE,
        confidence="supported",
        doing=f"its watchdog stood still, unlike the others': {error.words[:160]}",
        evidence=error.evidence,
        alternatives=(
            Alternative(
                cause="host_blocked",
                confidence="hypothesis",
                sentence="Its watchdog may have waited for the interpreter's lock, not for the device.",
                culprits=str(rank),
                decided_by="its stack, with native frames",
            ),
        ),
    )
