"""Every member came to the call, asked for the same, and every one's watchdog gave up on it. Nobody is behind.

What is left lies below the hosts: the network, or a device. The watchdogs cannot tell which, and where the call has a
root, they do not say whom each believes to be it.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Missing
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.calls.requests import claims_at, sides
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import call_phrase
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper

CAUSE = "network_stalled"


@heuristic(
    "all gave up", "where every member's watchdog gave up on one call, the network or a device is stuck"
)
def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "joined" or len(wait_end.pending) != 1:
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    members = facts.membership.members[call.group]
    if call.slot is None or call.group in facts.membership.unsure or set(call.waiting) != set(members):
        return None
    if facts.case.dumps_used["backend"].drop_nulls().unique().to_list() != ["nccl"]:
        return None
    claims = claims_at(facts, call.group, call.slot)
    if len(sides(claims)) != 1 or patience(facts, call) is not Patience.OVER:
        return None
    if not set(members) <= facts.accounts.gave_up:
        return None
    contract = contract_of(claims[0].asked[0])
    if contract.agree in ("sums", "parts", "name"):
        # What the members must agree on is not recorded: they may disagree.
        return None
    others = [("gpu_stuck", "One member's device may never have come to it.", "TORCH_NCCL_ENABLE_TIMING=1")]
    if contract.early != "nobody":
        others.insert(0, ("root_mismatch", "The members may not agree on the root.", "NCCL's own call log"))
    reports = [r.evidence for rank in members[:4] for r in facts.accounts.of_rank[rank] if r.seq == call.slot]
    return Finding(
        cause=CAUSE,
        confidence="hypothesis",
        sentence=(
            f"{upper(ranks_words(members))} all came to the {call_phrase(facts, call)} and asked for the same, and the "
            "watchdog of each gave up on it. No rank is behind: a device or the network is at fault."
        ),
        evidence=tuple(dict.fromkeys([claims[0].evidence, *reports])),
        contradicted_by="a member whose device has not begun the call",
        alternatives=tuple(
            Alternative(cause=cause, confidence="hypothesis", sentence=words, decided_by=decided)
            for cause, words, decided in others
        ),
        missing=(
            Missing(
                what="the state of the devices",
                how="TORCH_NCCL_ENABLE_TIMING=1 records which device began the call; dmesg shows Xid and link errors",
            ),
        ),
        explains=len(wait_end.victims),
    )
