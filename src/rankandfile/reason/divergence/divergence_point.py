"""Who diverged from whom, at which call, and how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from rankandfile.reason import lookup
from rankandfile.reason.calls.programs import Program
from rankandfile.reason.calls.rounds import find_loop, head_of_rounds
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.words import ordinal

from .alignment import Tokens
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
    """'step 41 of this loop, after its 3rd all_reduce': where in the normal path's repetition it happened."""
    return _place_in_group(facts, group, slot) or _place_in_program(facts, group, slot)


def _place_in_group(facts: WaitFacts, group: int, slot: int) -> str | None:
    paths = facts.paths_of_groups.get(group)
    if paths is None:
        return None
    track = paths.normal.track
    # Numbers that nothing is recorded of, as a monitored barrier takes them, are no calls of the loop.
    made, position = track.terms >= 0, max(0, slot - track.first)
    before = int(made[:position].sum())
    return _place(facts, track.tokens[made], track.terms[made], before, whole=track.first <= 1)


def _place_in_program(facts: WaitFacts, group: int, slot: int) -> str | None:
    """A group with one call per step does not show the steps; all calls of a rank that made this one do."""
    paths = facts.paths_of_groups.get(group)
    for rank in paths.normal.ranks[:_FEW] if paths is not None else ():
        row = lookup.call_at(facts, rank, group, slot)
        if row is not None:
            return place_of_call(facts, row)
    return None


def place_of_call(facts: WaitFacts, row: lookup.Row) -> str | None:
    """Where in its rank's own repetition a call was made."""
    program = facts.programs.of(row["rank"])
    at = int(np.searchsorted(program.records, row["record"]))
    if at >= len(program.records) or program.records[at] != row["record"]:
        return None
    whole = bool(program.records[0] == 0)
    return _place(facts, program.tokens, program.terms, at, whole) or _round(facts, program, at, whole)


def _place(facts: WaitFacts, tokens: Tokens, terms: Terms, position: int, whole: bool) -> str | None:
    loop = find_loop(tokens[:position]) if position > 0 else None
    if loop is None or loop.period < 2 or position <= loop.start:
        return None
    within = (position - loop.start) % loop.period
    step = f"step {loop.step(position)} of this loop{_reach(whole)}"
    return f"{step}, {_within(facts, terms[position - within : position])}"


def _round(facts: WaitFacts, program: Program, position: int, whole: bool) -> str | None:
    """Of a loop whose steps are not all alike: by the call that it makes most often."""
    before = program.tokens[:position]
    head = head_of_rounds(before)
    row = lookup.call_of_record(facts, program.rank, int(program.records[head])) if head is not None else None
    if head is None or row is None:
        return None
    rounds = np.flatnonzero(before == before[head])
    begins = bool(program.tokens[position] == before[head])
    inside = program.terms[position:position] if begins else program.terms[rounds[-1] : position]
    number = len(rounds) + begins
    around = (
        lookup.place_words(facts.case, row["site"]).removeprefix(" at ") or f"its {lookup.op_of(facts, row)}"
    )
    return f"round {number} of the loop around {around}{_reach(whole)}, {_within(facts, inside)}"


def _reach(whole: bool) -> str:
    return "" if whole else " as far as the rings reach back"


def _within(facts: WaitFacts, made: Terms) -> str:
    """`made`: the calls of this step so far."""
    ops = [facts.call_table.terms[t].op for t in made.tolist() if t >= 0]
    if not ops:
        return "at its first call"
    return f"after its {ordinal(ops.count(ops[-1]))} {ops[-1]}"
