"""Who parted from whom, at which call, and how."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from . import look
from .codepath import Relation
from .departure import Kind
from .facts import Facts
from .loops import find_loop
from .words import ordinal


@dataclass(frozen=True)
class Parted:
    kind: Kind
    group: int
    slot: int | None
    culprits: tuple[int, ...]
    """Empty if nothing says which side departed."""
    normal: tuple[int, ...]
    """The ranks on the normal path, or on the first of two where that is open."""
    other: tuple[int, ...]
    expected: look.Row | None
    """The call of the normal path; of an earlier step, if only the past shows what is normal."""
    came: look.Row | None
    """The other side's call there."""
    length: int
    confirmed: int
    exact: bool = True
    how: Relation = "unknown"
    """Where the other side's call lies in the program, as against the expected one."""
    place: str | None = None
    stands: tuple[str, ...] = ()
    """The stacks that show it, where the calls do not."""
    past: bool = False
    """Only the ranks' own earlier steps show what is normal."""


def call_of(facts: Facts, ranks: tuple[int, ...], group: int, slot: int) -> look.Row | None:
    for rank in ranks:
        row = look.call_at(facts, rank, group, slot)
        if row is not None:
            return row
    return None


def calls_before(facts: Facts, row: look.Row) -> pl.DataFrame:
    return facts.working.of_rank(row["rank"]).filter(pl.col("record") < row["record"])


def place_of(facts: Facts, group: int, slot: int) -> str | None:
    """'step 41 of this loop, after its 3rd all_reduce': where in the normal path's repetition it happened."""
    parting = facts.partings.get(group)
    if parting is None:
        return None
    track = parting.normal.track
    position = slot - track.first
    loop = find_loop(track.tokens[:position]) if position > 0 else None
    if loop is None or loop.period < 2 or position <= loop.start:
        return None
    within = (position - loop.start) % loop.period
    begins = position - within
    whole = track.first <= 1
    words = f"step {loop.step(position)} of this loop{'' if whole else ' as far as the rings reach back'}"
    if not within:
        return words + ", at its first call"
    op = facts.working.terms[int(track.terms[position - 1])].op
    made = track.terms[begins:position].tolist()
    number = sum(facts.working.terms[int(t)].op == op for t in made if t >= 0)
    return f"{words}, after its {ordinal(number)} {op}"
