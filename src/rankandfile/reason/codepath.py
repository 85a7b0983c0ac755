"""Where in the program two calls lie to each other, by their stacks.

Two stacks share their outer frames; where they part, the same function is at two lines. Calls made before tell where
the loop runs: if they part from the expected call further inside, the loop is inside the outer line, and a call from
a later line has left it, if the expected call is the first of the loop's next round. If they part in the same
function, the order of its lines is the order of the loop's body.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import polars as pl

from rankandfile.model.case import Case

Relation = Literal["left", "before", "after", "unknown"]
Stack = list[tuple[str, str, int]]
"""Function, file and line of each frame that is not torch's own, outermost first."""


def relation(case: Case, earlier: Iterable[int], expected: int | None, came: int | None) -> Relation:
    """Where the call with stack `came` lies, as against the one with stack `expected`.

    `earlier`: the stacks of the calls that the rank with the expected call made before it, latest first.
    """
    ours, theirs = stack_of(case, expected), stack_of(case, came)
    depth = _parting(ours, theirs)
    if depth is None or ours[depth][:2] != theirs[depth][:2]:
        return "unknown"
    for number in earlier:
        before = stack_of(case, number)
        at = _parting(before, ours)
        if at is None:
            continue
        if at > depth:
            if theirs[depth][2] <= ours[depth][2]:
                return "unknown"
            # In the middle of a loop's body nothing but an exception leaves the loop: then it only came too early.
            begins = before[at][:2] == ours[at][:2] and before[at][2] > ours[at][2]
            return "left" if begins else "after"
        if at < depth or before[at][:2] != ours[at][:2]:
            return "unknown"
        return _by_line(before[depth][2], ours[depth][2], theirs[depth][2])
    return "unknown"


def _parting(one: Stack, other: Stack) -> int | None:
    """The outermost frame in which the two differ; None if one runs inside the other or they are equal."""
    for depth, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return depth
    return None


def _by_line(previous: int, expected: int, came: int) -> Relation:
    """The body of the loop runs from `previous` to `expected`, round its end if `expected` is the smaller."""
    if previous < expected:
        return "before" if previous < came < expected else "after"
    return "before" if came > previous or came < expected else "after"


def stack_of(case: Case, number: int | None) -> Stack:
    if number is None:
        return []
    rows = case.stacks.filter(pl.col("stack") == number)
    if not rows.height:
        return []
    frames = rows["frames"][0].to_list()
    known: dict[int, dict[str, Any]] = {
        row["frame"]: row for row in case.frames.filter(pl.col("frame").is_in(frames)).iter_rows(named=True)
    }
    ordered = [known[f] for f in reversed(frames) if f in known]
    return [(row["function"], row["file"], row["line"]) for row in ordered if not row["is_torch"]]
