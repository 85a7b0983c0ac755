"""All members came to the call, and what one of them was sent has another size than it expected.

The sizes that the recorder keeps agree, or are of whole tensors only. Who sent the wrong thing, the line does not say.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.causes.skipped_collective import transfer_left_out
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, pending_row
from rankandfile.reason.words import ranks_words, upper


@finder(precedence=200)
@heuristic("size in the log", "a line on sizes that do not fit tells that the members disagree")
def wrong_size_in_log(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "joined" or transfer_left_out(facts, wait_end) is not None:
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    misfits = {rank: facts.accounts.misfits[rank] for rank in call.waiting if rank in facts.accounts.misfits}
    row = pending_row(facts, call)
    if not misfits or row is None or not _all_in_it(facts, call):
        return None
    cause = "split_mismatch" if contract_of(lookup.op_of(facts, row)).agree == "sums" else "size_mismatch"
    said = "; ".join(error.words for error in list(misfits.values())[:2])
    return Finding(
        cause=cause,
        confidence="supported",
        sentence=(
            f"All members joined the {call_phrase(facts, call)}, and {ranks_words(sorted(misfits))} got a message of "
            f"another size than expected: '{said[:200]}'. Who sent it the line does not say."
        ),
        location=lookup.location_of(facts, row),
        evidence=(lookup.evidence_of(row), *(i for error in misfits.values() for i in error.evidence)),
        contradicted_by="split sizes in a log that agree between all pairs",
        alternatives=(
            perhaps(
                "skipped_collective",
                f"{upper(ranks_words(sorted(misfits)))} may have been sent what belongs to another call.",
                decided_by="the calls before, of every member",
            ),
        ),
        missing=(
            Missing(
                what="the sizes that each member sends to each other", how="TORCH_DISTRIBUTED_DEBUG=DETAIL"
            ),
        ),
    )


def _all_in_it(facts: Facts, call: Pending) -> bool:
    """Every member's own record says that it is in this call, made from the same place."""
    rows = [
        lookup.call_at(facts, r, call.group, call.slot or 0) for r in facts.membership.members[call.group]
    ]
    members = facts.membership.members[call.group]
    lines = {(s.location.file, s.location.line) for r in members if (s := facts.hosts.get(r)) is not None}
    sites = {row["site"] for row in rows if row}
    return all(row is not None for row in rows) and len(sites) == 1 and len(lines) <= 1
