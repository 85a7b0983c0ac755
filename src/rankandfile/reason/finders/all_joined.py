"""A call that every known member joined and that does not finish, where the devices tell no more than that."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Missing
from rankandfile.reason import lookup
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, pending_row
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, verb


@finder(precedence=300)
def all_joined(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "joined":
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    waited = patience(facts, call)
    unsure = call.group in facts.membership.unsure
    if waited in (Patience.NOT_YET, Patience.UNKNOWN) and not unsure:
        return None
    row = pending_row(facts, call)
    phrase = call_phrase(facts, call)
    who = f"{ranks_words(call.waiting)} {verb(call.waiting, 'waits', 'wait')}"
    sentence = f"Every member that shows has joined the {phrase}, and {who} in it, {waited.value}."
    if unsure:
        sentence += " Who belongs to the group is not recorded: a member that never used it would not show."
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=sentence,
        evidence=cited(row),
        contradicted_by="a later dump in which the call has ended",
        alternatives=_alternatives(call, lookup.op_of(facts, row) if row else None, unsure),
        missing=(
            Missing(
                what="the state of the devices",
                how="TORCH_NCCL_ENABLE_TIMING=1 records which device began the call; stacks show where each host is",
            ),
        ),
    )


_ROOT_UNKNOWN = ("broadcast", "reduce")


def _alternatives(call: Pending, op: str | None, unsure: bool) -> tuple[Alternative, ...]:
    causes = [
        ("network_stalled", "All have begun it, and the network does not carry it."),
        ("gpu_stuck", "One member's device has not come to it."),
    ]
    if call.slot is not None:
        causes.append(("split_mismatch", "The members disagree on something that is not recorded."))
    if op in _ROOT_UNKNOWN:
        causes.insert(0, ("root_mismatch", f"The members may disagree on its root, which no {op} records."))
    if unsure:
        causes.insert(0, ("skipped_collective", "A member that does not show never joined."))
    return tuple(perhaps(cause, words, decided_by="stacks of all ranks") for cause, words in causes)
