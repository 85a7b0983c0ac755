"""Whether who waits in a transfer is past the call of the others, where no record has frames: by the source.

It has made the call that the others made right before, as often as they, and that is made nowhere but between the line
at which it stands and theirs: so it has come there anew. Nor is it the call itself that the others wait in, of a round
before.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.column import Row
from rankandfile.reason import lookup
from rankandfile.reason.divergence.code_paths import Frame, Stack, stack_of
from rankandfile.reason.facts import Facts

from .graph import Pending


def came_round_by_code(
    facts: Facts, rank: int, call: Pending, before: Row, last: Row, due: Row
) -> Frame | None:
    """The line that made its last call. `before`: what who waits in the call, `due`, made right before it."""
    other = next((facts.hosts[r] for r in call.waiting if r in facts.hosts), None)
    if other is None or before["op"] != last["op"] or not _as_often(facts, before, last):
        return None
    if before["terms"] == due["terms"]:
        return None
    here, there = (stack_of(facts.case, stand.stack) for stand in (facts.hosts[rank], other))
    pair = _first_unlike(here, there)
    if pair is None:
        return None
    one, further = pair
    made_at = facts.code.between.get((one.file, one.line, further.line), {}).get(lookup.op_of(facts, last))
    return Frame(*made_at, leaving=False) if made_at is not None else None


def _first_unlike(one: Stack, other: Stack) -> tuple[Frame, Frame] | None:
    """The first frames that are not the same."""
    return next(((a, b) for a, b in zip(one, other, strict=False) if a != b), None)


def _as_often(facts: Facts, before: Row, last: Row) -> bool:
    """It is one call of both, or each has made as many in a group of its own."""
    if before["group"] == last["group"]:
        return bool(before["slot"] == last["slot"] is not None)
    rows = (before, last)
    names = {
        facts.case.groups.row(by_predicate=pl.col("group") == row["group"], named=True)["desc"]
        for row in rows
    }
    one, other = (_times(facts, row) for row in rows)
    return len(names) == 1 and one == other is not None


def _times(facts: Facts, row: Row) -> int | None:
    """How often the rank has made this call; None where the record does not go back to the group's first."""
    made = facts.call_table.of_rank(row["rank"]).filter(group=row["group"])
    return made.filter(terms=row["terms"]).height if made["slot"].min() == 1 else None
