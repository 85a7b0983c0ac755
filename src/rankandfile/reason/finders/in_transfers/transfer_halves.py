"""The two halves of a transfer that all wait in, where they are not about the same amount or not of the same type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Alternative
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import elements
from rankandfile.reason.calls.pairing import Transfer
from rankandfile.reason.document import cohort, diverged, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.patience import Patience, patience

Amount = tuple[int, tuple[str, ...]]
"""Elements, and their types."""

_OUT_OF_STEP = perhaps(
    "skipped_collective",
    "One of the two may have left out a send or receive before: from there on halves that do not belong "
    "together meet.",
    decided_by="the source, or the sends and receives of a rank that runs the same program",
)


class Unlike(NamedTuple):
    head: Transfer
    own: Row
    other: Row
    own_amount: Amount
    other_amount: Amount


def unlike_halves(facts: Facts, wait_end: WaitEnd) -> Iterator[Unlike]:
    """Of the transfers in which the waits end, those whose halves do not fit; none where nobody has waited for long."""
    if wait_end.kind != "joined":
        return
    call = facts.waits.pending[wait_end.pending[0]]
    if call.slot is not None or patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return
    for head in facts.pairing.heads:
        if (head.group, head.record) == (call.group, call.record) and head.rank in call.waiting:
            found = _compared(facts, head)
            if found is not None:
                yield found


def _compared(facts: Facts, head: Transfer) -> Unlike | None:
    own = lookup.call_of_record(facts, head.rank, head.part)
    other = lookup.call_of_record(facts, head.peer, head.peer_part) if head.peer_part is not None else None
    if own is None or other is None:
        return None
    amounts = amount(facts, own), amount(facts, other)
    if amounts[0] is None or amounts[1] is None or amounts[0] == amounts[1]:
        return None
    return Unlike(head, own, other, amounts[0], amounts[1])


def amount(facts: Facts, row: Row) -> Amount | None:
    shapes = facts.case.shapes.filter(pl.col("shape") == row["shape"])
    if not shapes.height:
        return None
    shape = shapes.row(0, named=True)
    sizes, dtypes = shape["in_sizes"] or shape["out_sizes"], shape["in_dtypes"] or shape["out_dtypes"]
    return (sum(elements(sizes)), tuple(sorted(set(dtypes or ())))) if sizes else None


def other_amount(facts: Facts, wait_end: WaitEnd, cause: str) -> Finding | None:
    """A transfer of which both halves are there, and disagree on what this cause is about: the size or the dtype.

    Sends and receives pair by their order: one that was left out before would look the same, and where that can be seen
    it is told instead.
    """
    unlike = next(unlike_halves(facts, wait_end), None)
    if unlike is None:
        return None
    if cause != ("size_mismatch" if unlike.own_amount[0] != unlike.other_amount[0] else "dtype_mismatch"):
        return None
    head, own, other = unlike.head, unlike.own, unlike.other
    sent, received = (own, other) if head.sends else (other, own)
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
        divergence=diverged(
            facts,
            head.group,
            seq=None,
            kind="argument",
            cohorts=[
                cohort(facts, [row["rank"]], row, size)
                for row, size in zip((sent, received), words, strict=True)
            ],
        ),
        location=lookup.location_of(facts, received),
        evidence=(lookup.evidence_of(sent), lookup.evidence_of(received)),
        contradicted_by="a recorder that logged the sizes of another tensor than the one sent",
        alternatives=(*(_wrong(cause, rank) for rank in (source, target)), _OUT_OF_STEP),
    )


def _wrong(cause: str, rank: int) -> Alternative:
    return perhaps(
        cause,
        f"Rank {rank} asked for the wrong thing.",
        [rank],
        decided_by="the source, or an earlier step of the same loop",
    )
