"""All members joined; one member's device has not begun the collective while the others' have.

Where the devices' starts are not recorded, a watchdog that stood still tells of its device, if it alone did.
"""

from __future__ import annotations

from rankandfile.model.advice import STACKS
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Probe, Remedy
from rankandfile.reason.finder import finder, teller
from rankandfile.reason.toolbox import (
    AskedRank,
    Facts,
    Patience,
    Story,
    WaitEnd,
    call_phrase,
    cited,
    cohort,
    diverged,
    lookup,
    patience,
    perhaps,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="gpu_stuck",
    family="device",
    place=10,
    meaning="A device never begins the collective.",
    help="The host asked for the call, but the device is still busy with earlier work that does not end.",
    remedies=(
        Remedy(
            title="Look at what the device was given before the call",
            text="A kernel that never ends, a copy from pinned memory that another thread holds, or a "
            "stream wait on an event that is never recorded. If the host shows Xid errors, take the "
            "device out of the job.",
        ),
    ),
    anti_advice=("Do not restart on the same device before its health is checked.",),
    probes=(
        STACKS,
        Probe(title="The device's own state", text="nvidia-smi and dmesg (Xid) on the culprit's host."),
    ),
    did="was held up by earlier work on the GPU",
    title="A device never begins the call",
    page="""
## How it comes about

The host has asked for the collective, and the device is still busy with what came before: a kernel that does not end,
or a stream that waits for an event that nobody records. The recorder's states tell it: the others have *started*, this
rank's call is only *scheduled*. They are recorded with `TORCH_NCCL_ENABLE_TIMING=1`; without them the case looks like
[`network_stalled`](network_stalled.md).
""",
    scenario="gpu-stuck-3d",
)


@finder(precedence=210)
def not_begun(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "behind":
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    assert call.slot is not None
    waited = patience(facts, call)
    if waited in (Patience.NOT_YET, Patience.LATE, Patience.UNKNOWN):
        # A long kernel looks the same until the timeout is over.
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
        cause=CAUSE.word,
        confidence="supported",
        sentence=upper(sentence),
        culprits=call.behind,
        doing=dict.fromkeys(call.behind, "its device is still busy with work issued before the collective"),
        divergence=diverged(
            facts,
            call.group,
            seq=known[0]["seq"] if known else call.slot,
            kind="absent",
            cohorts=[
                cohort(facts, ranks, row, row_state)
                for ranks, row, row_state in zip(
                    [r for r in (call.behind, begun) if r],
                    known,
                    ("issued, not begun", "begun"),
                    strict=False,
                )
            ],
        ),
        evidence=cited(*known),
        contradicted_by="a start time of the call on that rank, or a host that waits before launching it",
        alternatives=(
            perhaps(
                "gpu_error",
                "The device may have failed rather than be busy.",
                call.behind,
                decided_by="the kernel log of its host (Xid lines) and the rank's log (CUDA error)",
            ),
        ),
    )


@teller(precedence=120, joined=50)
def watchdog_stood_still(facts: Facts, asked: AskedRank) -> Story | None:
    """Its watchdog stood still, where others' ran and gave up: a call to its device did not come back."""
    accounts, rank = facts.accounts, asked.rank
    error = accounts.stuck_watchdogs.get(rank)
    if error is None or asked.proved or not set(asked.waiting) & accounts.gave_up:
        return None
    return Story(
        cause=CAUSE.word,
        confidence="supported",
        doing=f"its watchdog stood still, unlike the others': {error.words[:160]}",
        evidence=error.evidence,
        alternatives=(
            perhaps(
                "host_blocked",
                "Its watchdog may have waited for the interpreter's lock, not for the device.",
                [rank],
                decided_by="its stack, with native frames",
            ),
        ),
    )
