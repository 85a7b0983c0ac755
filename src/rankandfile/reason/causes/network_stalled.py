"""All members joined and, as far as their devices or their hosts' stacks tell, began; none finishes."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, pending_row
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, verb

CAUSE = "network_stalled"


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "joined":
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    if call.slot is None:
        return None
    if not call.begun:
        return _on_hosts(facts, wait_end, call)
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
        evidence=tuple([lookup.evidence_of(row)] if row else []),
        contradicted_by="a member whose device has not begun the collective",
        alternatives=(
            Alternative(
                cause="link_error",
                confidence="hypothesis",
                sentence="One link or adapter may have failed.",
                decided_by="NCCL's log, the kernel log and the switch's counters",
            ),
        ),
        explains=len(wait_end.victims),
    )


def _on_hosts(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding | None:
    """gloo works on the hosts: if every member's stack stands in the call, all have begun it, and no device is late."""
    members = facts.membership.members[call.group]
    row = pending_row(facts, call)
    if row is None or set(call.waiting) != set(members) or len(members) < 2 or not _gloo_alone(facts):
        return None
    stands = [facts.hosts.get(rank) for rank in members]
    inside = [
        s for s in stands if s is not None and s.activity in ("collective", "backward") and not s.moving
    ]
    contract = contract_of(lookup.op_of(facts, row))
    if len(inside) < len(members) or contract.agree in ("sums", "parts", "name"):
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
    if rooted:
        others.insert(
            0, ("root_mismatch", "The members may not agree on the root.", "the source of the call")
        )
    return Finding(
        cause=CAUSE,
        confidence="hypothesis" if rooted else "supported",
        sentence=(
            f"All members joined the {call_phrase(facts, call)} with the same arguments, the stack of each stands in "
            "it, and none finishes it. No rank is behind: suspect what lies between them, the network."
        ),
        evidence=(lookup.evidence_of(row), *(i for s in inside[:4] for i in s.evidence)),
        contradicted_by="a stack of a member outside of the call",
        alternatives=tuple(
            Alternative(cause=cause, confidence="hypothesis", sentence=words, decided_by=decided)
            for cause, words, decided in others
        ),
        explains=len(wait_end.victims),
    )


def _gloo_alone(facts: Facts) -> bool:
    return facts.case.dumps_used["backend"].drop_nulls().unique().to_list() == ["gloo"]
