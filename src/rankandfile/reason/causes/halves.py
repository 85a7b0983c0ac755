"""The two halves of a transfer that all wait in, where they are not about the same amount or not of the same type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import elements
from rankandfile.reason.calls.pairing import Transfer
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.patience import Patience, patience

Amount = tuple[int, tuple[str, ...]]
"""Elements, and their types."""


class Unlike(NamedTuple):
    head: Transfer
    own: lookup.Row
    other: lookup.Row
    own_amount: Amount
    other_amount: Amount


def unlike_halves(facts: Facts, wait_end: WaitEnd) -> Iterator[Unlike]:
    """Of the transfers of the root's call, those whose halves do not fit; none where nobody has waited for long."""
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


def amount(facts: Facts, row: lookup.Row) -> Amount | None:
    shapes = facts.case.shapes.filter(pl.col("shape") == row["shape"])
    if not shapes.height:
        return None
    shape = shapes.row(0, named=True)
    sizes, dtypes = shape["in_sizes"] or shape["out_sizes"], shape["in_dtypes"] or shape["out_dtypes"]
    return (sum(elements(sizes)), tuple(sorted(set(dtypes or ())))) if sizes else None
