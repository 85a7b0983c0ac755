"""Who diverged from whom, at which call, and how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from rankandfile.reason import lookup
from rankandfile.reason.calls.rounds import head_of_rounds
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.words import ordinal

from .code_paths import Relation
from .track_difference import Kind

_FEW = 4

Terms = npt.NDArray[np.int64]


@dataclass(frozen=True)
class DivergencePoint:
    kind: Kind
    group: int
    slot: int | None
    culprits: tuple[int, ...]
    """Empty if nothing says which side diverged."""
    normal: tuple[int, ...]
    """The ranks on the normal path, or on the first of two where that is open."""
    other: tuple[int, ...]
    expected: lookup.Row | None
    """The call of the normal path; of an earlier step, if only the past shows what is normal."""
    came: lookup.Row | None
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


def call_of(facts: WaitFacts, ranks: tuple[int, ...], group: int, slot: int) -> lookup.Row | None:
    """The call of this slot, of the first of the ranks that has it."""
    for rank in ranks:
        row = lookup.call_at(facts, rank, group, slot)
        if row is not None:
            return row
    return None


def calls_before(facts: WaitFacts, row: lookup.Row) -> pl.DataFrame:
    """All calls that the rank of this one made before it."""
    return facts.call_table.of_rank(row["rank"]).filter(pl.col("record") < row["record"])


def place_of(facts: WaitFacts, group: int, slot: int) -> str | None:
    """'round 41 of the loop around train.py:9, after its 3rd all_reduce': where in the repetition it happened."""
    paths = facts.paths_of_groups.get(group)
    for rank in paths.normal.ranks[:_FEW] if paths is not None else ():
        row = lookup.call_at(facts, rank, group, slot)
        if row is not None:
            return place_of_call(facts, row)
    return None


def place_of_call(facts: WaitFacts, row: lookup.Row) -> str | None:
    """Where in its rank's own repetition a call was made.

    Calls that repeat are not yet steps of one loop, and what is made every few rounds is none of its beginnings. What
    is counted is the call that is made most often, by all frames that it was made from, and from the start of the job.
    Where that cannot be had, nothing is said.
    """
    program = facts.programs.of(row["rank"])
    at = int(np.searchsorted(program.records, row["record"]))
    if at >= len(program.records) or program.records[at] != row["record"] or program.records[0] != 0:
        return None
    head = head_of_rounds(program.tokens[:at])
    first = (
        lookup.call_of_record(facts, program.rank, int(program.records[head])) if head is not None else None
    )
    if first is None or first["stack"] is None:
        return None
    calls = facts.call_table.of_rank(program.rank).filter(pl.col("stack") == first["stack"])
    rounds = np.flatnonzero(np.isin(program.records[: at + 1], calls["record"].to_numpy()))
    if len(rounds) < 2 or bool((np.diff(rounds) < 2).any()):
        return None
    around = lookup.place_words(facts.case, first["site"]).removeprefix(" at ")
    return (
        f"round {len(rounds)} of the loop around {around}, {_within(facts, program.terms[rounds[-1] : at])}"
    )


def _within(facts: WaitFacts, made: Terms) -> str:
    """`made`: the calls of this round so far."""
    ops = [facts.call_table.terms[t].op for t in made.tolist() if t >= 0]
    if not ops:
        return "at its first call"
    return f"after its {ordinal(ops.count(ops[-1]))} {ops[-1]}"
