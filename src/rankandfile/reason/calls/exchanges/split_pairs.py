"""An all_to_all compared pair by pair: what a gives to b, and what b expects of a.

Dumps have the splits where each is a tensor of its own; of one tensor for all, they have the size of the whole, and
stacks may show the splits.

A round may be lost before the one that its members are stuck in: what goes out comes back, and where both ways
disagree, the way out did first. Whose number of the two is wrong, the pair does not tell. Where the members told each
other just before how much they would send, the receiver's number is the sender's own word.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl
from msgspec import Struct

from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of, elements
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import Pending

from .split_sums import exchange, sizes_of

_MOST_CITED = 6
_INTEGERS = ("Long", "Int", "Short", "Char", "Byte")


class Pair(NamedTuple):
    sender: int
    receiver: int
    sent: int
    expected: int


class Pairs(Struct, frozen=True):
    """Pairs that disagree, on the way on which they did first."""

    pairs: tuple[Pair, ...]
    slot: int
    told_at: int | None
    """The call in which each member was told what it would get."""
    evidence: tuple[str, ...]
    recorded: bool = False
    """By the dumps, in elements; else by stacks, in rows."""

    @property
    def unit(self) -> str:
        return "elements" if self.recorded else "rows"

    @property
    def odd_one(self) -> int | None:
        """The one rank that has a part in all pairs that disagree: the others agree among themselves."""
        parts = set.intersection(*({pair.sender, pair.receiver} for pair in self.pairs))
        others = {rank for pair in self.pairs for rank in (pair.sender, pair.receiver)} - parts
        return next(iter(parts)) if len(parts) == 1 and len(others) > 1 else None

    @property
    def culprits(self) -> tuple[int, ...]:
        """Who sends another number than it had told. One receiver that disagrees with several senders may itself have
        misread what all of them told."""
        senders = {pair.sender for pair in self.pairs}
        receivers = {pair.receiver for pair in self.pairs}
        if self.recorded and self.odd_one is not None:
            return (self.odd_one,)
        if self.told_at is None or (len(senders) > 1 and len(receivers) <= len(senders)):
            return ()
        return tuple(sorted(senders))


def disagreeing(facts: Facts, call: Pending) -> Pairs | None:
    """None if no pair of members shows its splits, or all that do agree."""
    slot = call.slot or 0
    members = facts.membership.members[call.group]
    recorded = _recorded(facts, call, members)
    splits = recorded or {
        rank: found for rank in call.waiting if (found := splits_of(facts, call, rank, len(members)))
    }
    pairs = [
        Pair(a, b, splits[a][0][members.index(b)], splits[b][1][members.index(a)])
        for a in splits
        for b in splits
        if a != b and splits[a][0][members.index(b)] != splits[b][1][members.index(a)]
    ]
    if not pairs:
        return None
    evidence = _evidence(facts, call, sorted({r for p in pairs for r in p[:2]}), bool(recorded))
    out = slot - 1
    if mirrored(facts, call.group, out, slot):
        pairs = [Pair(b, a, expected, sent) for a, b, sent, expected in pairs]
        slot = out
    told_at = slot - 1 if tells(facts, call.group, slot - 1, len(members)) else None
    return Pairs(tuple(sorted(pairs)), slot, told_at, evidence, bool(recorded))


def _evidence(facts: Facts, call: Pending, ranks: list[int], recorded: bool) -> tuple[str, ...]:
    if not recorded:
        return tuple(facts.hosts[rank].asked.evidence for rank in ranks)
    rows = [lookup.call_at(facts, rank, call.group, call.slot or 0) for rank in ranks[:_MOST_CITED]]
    return tuple(lookup.evidence_of(row) for row in rows if row)


def _recorded(
    facts: Facts, call: Pending, members: list[int]
) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Of all members, or of none: what each gives to and expects of each, one tensor for each."""
    made = facts.call_table.calls.filter((pl.col("group") == call.group) & (pl.col("slot") == call.slot))
    rows = made.select("rank", "shape").join(facts.case.shapes, on="shape")
    splits = {
        row["rank"]: (elements(row["in_sizes"]), elements(row["out_sizes"]))
        for row in rows.iter_rows(named=True)
    }
    count = len(members)
    whole = all(len(sends) == len(takes) == count for sends, takes in splits.values())
    return splits if count > 1 and whole and splits.keys() >= set(members) else {}


def splits_of(
    facts: Facts, call: Pending, rank: int, size: int
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """What it gives to and expects of each member, if its stack is of this very call."""
    stand, row = facts.hosts.get(rank), lookup.last_call(facts, rank, call.group)
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


def mirrored(facts: Facts, group: int, out: int, back: int) -> bool:
    """The call before was the way out of this one: all sizes the other way round, and its sums disagree too."""
    there, here = sizes_of(facts, group, out), sizes_of(facts, group, back)
    sums = exchange(facts, group, out)
    if there is None or here is None or sums is None or sums.agrees:
        return False
    return here.keys() <= there.keys() and all(there[rank] == here[rank][::-1] for rank in here)


def tells(facts: Facts, group: int, slot: int, members: int) -> bool:
    """Everyone gave everyone a whole number."""
    calls = facts.call_table.calls.filter((pl.col("group") == group) & (pl.col("slot") == slot))
    shapes = calls.select("rank", "shape").join(facts.case.shapes, on="shape")
    if sizes_of(facts, group, slot) is None or shapes["rank"].n_unique() < members:
        return False
    return all(
        sum(elements(row["in_sizes"])) == sum(elements(row["out_sizes"])) == members
        and set(row["in_dtypes"] or ()) <= set(_INTEGERS)
        for row in shapes.iter_rows(named=True)
    )
