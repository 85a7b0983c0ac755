"""An all_to_all compared pair by pair, where stacks show the splits: what a gives to b, and what b expects of a.

A round may be lost before the one that its members are stuck in: what goes out comes back, and where both ways
disagree, the way out did first. Whose number of the two is wrong, the pair does not tell. Where the members told each
other just before how much they would send, the receiver's number is the sender's own word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from . import look
from .contracts import contract_of, elements
from .facts import Facts
from .splits import exchange, sizes_of
from .waits import Pending

_INTEGERS = ("Long", "Int", "Short", "Char", "Byte")


class Pair(NamedTuple):
    sender: int
    receiver: int
    sent: int
    expected: int


@dataclass(frozen=True)
class Pairs:
    """Pairs that disagree, on the way on which they did first."""

    pairs: tuple[Pair, ...]
    slot: int
    told_at: int | None
    """The call in which each member was told what it would get."""
    evidence: tuple[str, ...]

    @property
    def culprits(self) -> tuple[int, ...]:
        """Who sends another number than it had told. One receiver that disagrees with several senders may itself have
        misread what all of them told."""
        senders = {pair.sender for pair in self.pairs}
        receivers = {pair.receiver for pair in self.pairs}
        if self.told_at is None or (len(senders) > 1 and len(receivers) <= len(senders)):
            return ()
        return tuple(sorted(senders))


def disagreeing(facts: Facts, call: Pending) -> Pairs | None:
    """None if no pair of members shows its splits, or all that do agree."""
    slot = call.slot or 0
    members = facts.membership.members[call.group]
    splits = {rank: found for rank in call.waiting if (found := _splits(facts, call, rank, len(members)))}
    pairs = [
        Pair(a, b, splits[a][0][members.index(b)], splits[b][1][members.index(a)])
        for a in splits
        for b in splits
        if a != b and splits[a][0][members.index(b)] != splits[b][1][members.index(a)]
    ]
    if not pairs:
        return None
    evidence = tuple(facts.hosts[rank].asked.evidence for rank in sorted({r for p in pairs for r in p[:2]}))
    out = slot - 1
    if _mirrored(facts, call.group, out, slot):
        pairs = [Pair(b, a, expected, sent) for a, b, sent, expected in pairs]
        slot = out
    told_at = slot - 1 if _tells(facts, call.group, slot - 1, len(members)) else None
    return Pairs(tuple(sorted(pairs)), slot, told_at, evidence)


def _splits(
    facts: Facts, call: Pending, rank: int, size: int
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """What it gives to and expects of each member, if its stack is of this very call."""
    stand, row = facts.hosts.get(rank), look.last_call(facts, rank, call.group)
    if stand is None or stand.died or row is None or row["slot"] != call.slot:
        return None
    sends, receives = stand.asked.sends, stand.asked.receives
    if contract_of(stand.asked.op).op != "all_to_all" or len(sends) != size or len(receives) != size:
        return None
    shapes = facts.case.shapes.filter(pl.col("shape") == row["shape"])
    shape = shapes.row(0, named=True) if shapes.height else {}
    rows = [_rows(shape.get(column)) for column in ("in_sizes", "out_sizes")]
    return (sends, receives) if rows == [sum(sends), sum(receives)] else None


def _rows(tensors: list[list[int]] | None) -> int | None:
    return tensors[0][0] if tensors and len(tensors) == 1 and tensors[0] else None


def _mirrored(facts: Facts, group: int, out: int, back: int) -> bool:
    """The call before was the way out of this one: all sizes the other way round, and its sums disagree too."""
    there, here = sizes_of(facts, group, out), sizes_of(facts, group, back)
    sums = exchange(facts, group, out)
    if there is None or here is None or sums is None or sums.agrees:
        return False
    return here.keys() <= there.keys() and all(there[rank] == here[rank][::-1] for rank in here)


def _tells(facts: Facts, group: int, slot: int, members: int) -> bool:
    """Everyone gave everyone a whole number."""
    calls = facts.working.calls.filter((pl.col("group") == group) & (pl.col("slot") == slot))
    shapes = calls.select("rank", "shape").join(facts.case.shapes, on="shape")
    if sizes_of(facts, group, slot) is None or shapes["rank"].n_unique() < members:
        return False
    return all(
        sum(elements(row["in_sizes"])) == sum(elements(row["out_sizes"])) == members
        and set(row["in_dtypes"] or ()) <= set(_INTEGERS)
        for row in shapes.iter_rows(named=True)
    )
