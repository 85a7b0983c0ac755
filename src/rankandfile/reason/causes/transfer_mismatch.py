"""Both halves of a transfer are there, and are not about the same amount, or not of the same type.

Sends and receives pair by their order: one that was left out before would look the same, and where that can be seen
it is told instead.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Alternative, Cohort, Divergence
from rankandfile.reason import look
from rankandfile.reason.contracts import elements
from rankandfile.reason.facts import Facts
from rankandfile.reason.pairing import Transfer
from rankandfile.reason.patience import Patience, patience
from rankandfile.reason.waits import Root

from . import left_out
from .finding import Finding

_OUT_OF_STEP = Alternative(
    cause="skipped_collective",
    confidence="hypothesis",
    sentence="One of the two may have left out a send or receive before: from there on halves that do not belong "
    "together meet.",
    decided_by="the source, or the sends and receives of a rank that runs the same program",
)


def find(facts: Facts, root: Root) -> Finding | None:
    if root.kind != "joined":
        return None
    call = facts.waits.pending[root.pending[0]]
    if call.slot is not None or patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return None
    if left_out.find(facts, root) is not None:
        return None
    for head in facts.pairing.heads:
        if (head.group, head.record) == (call.group, call.record) and head.rank in call.waiting:
            found = _finding(facts, root, head)
            if found is not None:
                return found
    return None


def _finding(facts: Facts, root: Root, head: Transfer) -> Finding | None:
    mine = look.call_of_record(facts, head.rank, head.part)
    theirs = look.call_of_record(facts, head.peer, head.peer_part) if head.peer_part is not None else None
    if mine is None or theirs is None:
        return None
    sent, received = (mine, theirs) if head.sends else (theirs, mine)
    given, taken = _amount(facts, sent), _amount(facts, received)
    if given is None or taken is None or given == taken:
        return None
    cause = "size_mismatch" if given[0] != taken[0] else "dtype_mismatch"
    source, target = sent["rank"], received["rank"]
    words = [look.size_words(facts, row) for row in (sent, received)]
    return Finding(
        cause=cause,
        confidence="supported",
        sentence=(
            f"Rank {source} sends {words[0]} to rank {target} in the {look.call_words(facts, sent)} (group "
            f"{look.group_words(facts, head.group)}), and rank {target} expects {words[1]} in the "
            f"{look.call_words(facts, received)}; which of them is right the calls do not tell."
        ),
        divergence=Divergence(
            group=look.group_words(facts, head.group),
            seq=None,
            kind="argument",
            cohorts=[
                Cohort(ranks=str(row["rank"]), call=look.as_call(facts, row, size))
                for row, size in zip((sent, received), words, strict=True)
            ],
            members=look.members_text(facts, head.group),
        ),
        location=look.location_of(facts, received),
        evidence=(look.evidence_of(sent), look.evidence_of(received)),
        contradicted_by="a recorder that logged the sizes of another tensor than the one sent",
        alternatives=(*(_wrong(cause, rank) for rank in (source, target)), _OUT_OF_STEP),
        explains=len(root.victims),
    )


def _wrong(cause: str, rank: int) -> Alternative:
    return Alternative(
        cause=cause,
        confidence="hypothesis",
        sentence=f"Rank {rank} asked for the wrong thing.",
        culprits=str(rank),
        decided_by="the source, or an earlier step of the same loop",
    )


def _amount(facts: Facts, row: look.Row) -> tuple[int, tuple[str, ...]] | None:
    shapes = facts.case.shapes.filter(pl.col("shape") == row["shape"])
    if not shapes.height:
        return None
    shape = shapes.row(0, named=True)
    sizes, dtypes = shape["in_sizes"] or shape["out_sizes"], shape["in_dtypes"] or shape["out_dtypes"]
    return (sum(elements(sizes)), tuple(sorted(set(dtypes or ())))) if sizes else None
