"""All members joined and, as far as their devices or their hosts' stacks tell, began; none finishes."""

from __future__ import annotations

from rankandfile.model.advice import DISABLE
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Missing, Probe, Remedy
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    Facts,
    Patience,
    Pending,
    WaitEnd,
    absent_ranks,
    call_phrase,
    cited,
    claims_at,
    lookup,
    may_share_members,
    named_by_logs,
    on_hosts_alone,
    patience,
    pending_row,
    perhaps,
    perhaps_members,
    sides,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="network_stalled",
    family="fabric",
    place=10,
    meaning="All ranks joined the collective, and none finishes it.",
    help="No rank is behind, so that the fabric between them is at fault, or a device that nothing tells of.",
    remedies=(
        Remedy(
            title="Test the links between these ranks",
            text="Run the vendor's link test and nccl-tests on these hosts, and look for link flaps in the "
            "switch log.",
        ),
    ),
    anti_advice=(DISABLE,),
    probes=(
        Probe(
            title="Start times", text="TORCH_NCCL_ENABLE_TIMING=1 shows which devices began the collective."
        ),
    ),
    title="All joined, and nothing moves",
    page="""
## How it comes about

Every rank is in the same call with the same tensors, every device has begun, and nobody finishes. The program is in
order. Test the links between these hosts before anything else, and compare the counters of their ports.
""",
    scenario="network-stalled",
)


_UNTOLD = " Which rank each takes for its root, nothing here tells."


@finder(precedence=220)
def all_began(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "joined":
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    if call.slot is None:
        return None
    if not call.begun:
        return _on_hosts(facts, call)
    if patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        # A collective that all have begun and none has finished is in any running job.
        return None
    row = pending_row(facts, call)
    sentence = (
        f"All members joined the {call_phrase(facts, call)} with tensors of the same size and type, and every "
        f"device began it, but {ranks_words(call.waiting)} {verb(call.waiting, 'does', 'do')} not finish "
        "it. No rank is behind: suspect what lies between them, the network."
    )
    return Finding(
        cause=CAUSE.word,
        confidence="supported",
        sentence=sentence,
        evidence=cited(row),
        contradicted_by="a member whose device has not begun the collective",
        alternatives=(
            perhaps(
                "link_error",
                "One link or adapter may have failed.",
                decided_by="NCCL's log, the kernel log and the switch's counters",
            ),
        ),
    )


def _on_hosts(facts: Facts, call: Pending) -> Finding | None:
    """gloo works on the hosts: if every member's stack stands in the call, all have begun it, and no device is late."""
    members = facts.membership.members[call.group]
    row = pending_row(facts, call)
    if row is None or set(call.waiting) != set(members) or len(members) < 2 or not on_hosts_alone(facts.case):
        return None
    stands = [facts.hosts.get(rank) for rank in members]
    inside = [
        s for s in stands if s is not None and s.activity in ("collective", "backward") and not s.moving
    ]
    contract = contract_of(lookup.op_of(facts, row))
    if len(inside) < len(members) or contract.agree in ("sums", "parts", "name"):
        return None
    if perhaps_members(facts, call) or may_share_members(facts, call):
        return None
    # Without the dump of each they may have asked for different things; from different lines they have.
    lines = {(s.location.function, s.location.line) for s in inside}
    if len(lines) > 1 or set(members) & set(absent_ranks(facts)):
        return None
    if patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return None
    rooted = contract.early != "nobody"
    others = [
        ("link_error", "One link or adapter may have failed.", "the kernel log and the switch's counters")
    ]
    cites = (lookup.evidence_of(row), *(i for s in inside[:4] for i in s.evidence))
    own = {(s.location.file, s.location.line) for s in inside} & facts.code.own_roots
    if rooted and own:
        return named_by_logs(facts, call, _other_roots(facts, call, cites))
    if rooted:
        others.insert(
            0, ("root_mismatch", "The members may not agree on the root.", "the source of the call")
        )
    return Finding(
        cause=CAUSE.word,
        confidence="hypothesis" if rooted else "supported",
        sentence=(
            f"All members joined the {call_phrase(facts, call)} with tensors of the same size and type, the stack of "
            f"each stands in it, and none finishes it.{_UNTOLD if rooted else ''} No rank is behind: suspect what lies "
            "between them, the network."
        ),
        evidence=cites,
        contradicted_by="a stack of a member outside of the call",
        alternatives=tuple(perhaps(cause, words, decided_by=decided) for cause, words, decided in others),
    )


def _other_roots(facts: Facts, call: Pending, evidence: tuple[str, ...]) -> Finding:
    """The program has each rank work out the root from its own data: that comes before a network that fails."""
    return Finding(
        cause="root_mismatch",
        confidence="hypothesis",
        sentence=(
            f"All members joined the {call_phrase(facts, call)} with tensors of the same size and type, the stack of "
            "each stands in it, and none finishes it. Each takes for its root what it works out by itself: they need "
            "not agree on it."
        ),
        evidence=evidence,
        contradicted_by="a stack of a member outside of the call",
        alternatives=(
            perhaps(
                CAUSE.word,
                "Nothing may be carried between them.",
                decided_by="a test of the links between these hosts",
            ),
        ),
    )


@finder(precedence=230)
@heuristic(
    "all gave up", "where every member's watchdog gave up on one call, the network or a device is stuck"
)
def all_gave_up(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """Every member came to the call, asked for the same, and every one's watchdog gave up on it. Nobody is behind.

    What is left lies below the hosts: the network, or a device. The watchdogs cannot tell which, and where the call has
    a root, they do not say whom each believes to be it.
    """
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
    # A watchdog tells the operation and how much: of which type it was, only a record does.
    recorded = all(lookup.call_at(facts, rank, call.group, call.slot) is not None for rank in members)
    others = [("gpu_stuck", "One member's device may never have come to it.", "TORCH_NCCL_ENABLE_TIMING=1")]
    if not recorded:
        others.append(
            ("dtype_mismatch", "A member may have handed over another type.", "the dump of each rank")
        )
    if contract.early != "nobody":
        others.insert(0, ("root_mismatch", "The members may not agree on the root.", "NCCL's own call log"))
    reports = [r.evidence for rank in members[:4] for r in facts.accounts.of_rank[rank] if r.seq == call.slot]
    return Finding(
        cause=CAUSE.word,
        confidence="hypothesis",
        sentence=(
            f"{upper(ranks_words(members))} all came to the {call_phrase(facts, call)} and asked for "
            f"{'the same' if recorded else 'as much'}, and the watchdog of each gave up on it. No rank is behind: "
            f"a device or the network is at fault{'' if recorded else ', unless they handed over different types'}."
        ),
        evidence=tuple(dict.fromkeys([claims[0].evidence, *reports])),
        contradicted_by="a member whose device has not begun the call",
        alternatives=tuple(perhaps(cause, words, decided_by=decided) for cause, words, decided in others),
        missing=(
            Missing(
                what="the state of the devices",
                how="TORCH_NCCL_ENABLE_TIMING=1 records which device began the call; dmesg shows Xid and link errors",
            ),
        ),
    )
