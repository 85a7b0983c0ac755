"""Both halves of a transfer are there, and are not about the same amount, or not of the same type.

Sends and receives pair by their order: one that was left out before would look the same, and where that can be seen
it is told instead.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Cohort, Divergence
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd

from . import left_out
from .halves import unlike_halves

_OUT_OF_STEP = Alternative(
    cause="skipped_collective",
    confidence="hypothesis",
    sentence="One of the two may have left out a send or receive before: from there on halves that do not belong "
    "together meet.",
    decided_by="the source, or the sends and receives of a rank that runs the same program",
)


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    unlike = next(unlike_halves(facts, wait_end), None)
    if unlike is None or left_out.find(facts, wait_end) is not None:
        return None
    head, own, other, own_amount, other_amount = unlike
    sent, received = (own, other) if head.sends else (other, own)
    cause = "size_mismatch" if own_amount[0] != other_amount[0] else "dtype_mismatch"
    source, target = sent["rank"], received["rank"]
    words = [lookup.size_words(facts, row) for row in (sent, received)]
    return Finding(
        cause=cause,
        confidence="supported",
        sentence=(
            f"Rank {source} sends {words[0]} to rank {target} in the {lookup.call_words(facts, sent)} (group "
            f"{lookup.group_words(facts, head.group)}), and rank {target} expects {words[1]} in the "
            f"{lookup.call_words(facts, received)}; which of them is right the calls do not tell."
        ),
        divergence=Divergence(
            group=lookup.group_words(facts, head.group),
            seq=None,
            kind="argument",
            cohorts=[
                Cohort(ranks=str(row["rank"]), call=lookup.as_call(facts, row, size))
                for row, size in zip((sent, received), words, strict=True)
            ],
            members=lookup.members_text(facts, head.group),
        ),
        location=lookup.location_of(facts, received),
        evidence=(lookup.evidence_of(sent), lookup.evidence_of(received)),
        contradicted_by="a recorder that logged the sizes of another tensor than the one sent",
        alternatives=(*(_wrong(cause, rank) for rank in (source, target)), _OUT_OF_STEP),
        explains=len(wait_end.victims),
    )


def _wrong(cause: str, rank: int) -> Alternative:
    return Alternative(
        cause=cause,
        confidence="hypothesis",
        sentence=f"Rank {rank} asked for the wrong thing.",
        culprits=str(rank),
        decided_by="the source, or an earlier step of the same loop",
    )
