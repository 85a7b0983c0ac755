"""Whom a member that is done with a collective had taken for its root, by the variable that it came from.

A member that waits in the call shows the root among the arguments, and often in a variable of a function further out,
which handed it over. A member that is done with the call has no such arguments any more; but while it is still in the
same run of that function, further down, the variable is there:

    def generation(self):
        teacher = self.champion()
        self.collect(teacher)           rank 2 waits here, its `teacher` is 2, and so is the argument
        dist.broadcast(vector, teacher) rank 1 waits here, done with the former; its `teacher` is 0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.snapshots import stack_id
from rankandfile.reason.divergence.code_paths import lines_of_one_function, stack_of
from rankandfile.reason.facts import Facts

from .activity import short_function

Variable = tuple[str, str]
"""A function's name, and a name in it."""

#: Of more that disagree, the arguments alone tell.
_MOST_RANKS = 64


class Shown(NamedTuple):
    """What a snapshot shows of the functions that a rank is in."""

    stack: int
    values: dict[Variable, str]
    """Not of a function that is in it more than once."""
    evidence: str


def kept_roots(facts: Facts, named: Mapping[int, int], done: Iterable[Row]) -> dict[int, int]:
    """Rank -> root, of those that are done with the call. `named`: what those take for it that wait in it; `done`: the
    call as the others made it."""
    roots = set(named.values())
    if len(roots) < 2 or len(named) > _MOST_RANKS:
        # One number alone may be in a variable by chance.
        return {}
    calls = {row["rank"]: row for row in islice(done, _MOST_RANKS)}
    shown = {rank: one for rank in (*named, *calls) if (one := shown_by(facts, rank)) is not None}
    if not named.keys() <= shown.keys():
        return {}
    same = set.intersection(
        *(
            {one for one, value in shown[rank].values.items() if value == str(root)}
            for rank, root in named.items()
        )
    )
    # Where each takes itself for the root, the rank's own number is such a variable, too.
    same = {one for one in same if any(of.values.get(one) not in (None, str(r)) for r, of in shown.items())}
    found: dict[int, int] = {}
    for rank in calls.keys() & shown.keys() if same else ():
        running = _still_running(facts, calls[rank], shown[rank].stack)
        values = {shown[rank].values.get(one, "") for one in same if one[0] in running}
        # What the variable was given since is most likely no root of those.
        told = [root for root in roots if values == {str(root)}]
        if told:
            found[rank] = told[0]
    return found


def shown_by(facts: Facts, rank: int) -> Shown | None:
    """By its last snapshot that shows variables, where it stands still."""
    if rank not in facts.hosts or facts.hosts[rank].moving:
        return None
    rows = facts.case.snapshots.filter(
        (pl.col("rank") == rank)
        & (pl.col("role") == "main")
        & (pl.col("shows") == "now")
        & pl.col("locals").is_not_null()
        & pl.col("stack").is_not_null()
    ).sort("ordinal")
    if rows.is_empty():
        return None
    row = rows.row(-1, named=True)
    found: dict[Variable, str] = {}
    twice: set[Variable] = set()
    for line in row["locals"].split("\n"):
        function, _, rest = line.partition(": ")
        name, _, value = rest.partition(": ")
        variable = (short_function(function), name)
        twice |= {variable} & found.keys()
        found[variable] = value
    values = {variable: value for variable, value in found.items() if variable not in twice}
    return Shown(row["stack"], values, stack_id(row["file"], row["line"]))


def _still_running(facts: Facts, row: Row, stack: int) -> set[str]:
    """The functions that made this call, and have not come to their end since: the rank made one call since, which
    parts from it in one of them, further down, and which has always come right after it in the rounds before."""
    calls = facts.call_table.of_rank(row["rank"])
    since = calls.filter(pl.col("record") > row["record"])
    if row["stack"] is None or since.height != 1 or since["stack"].null_count():
        return set()
    if not _always_in_turn(calls["stack"].to_list(), row["stack"], since["stack"][0]):
        return set()
    case = facts.case
    made, now = stack_of(case, row["stack"]), stack_of(case, stack)
    lines = lines_of_one_function(made, stack_of(case, since["stack"][0]), now)
    if lines is None or min(lines[1:]) <= lines[0]:
        return set()
    depth = next(at for at, (one, other) in enumerate(zip(made, now, strict=False)) if one[2] != other[2])
    return {short_function(frame.function) for frame in made[: depth + 1]}


def _always_in_turn(stacks: list[int | None], first: int, second: int) -> bool:
    """Whether the second call was made after the first one, and after nothing else, as often as it was made before."""
    before = [stacks[at - 1] if at else None for at, stack in enumerate(stacks[:-1]) if stack == second]
    return bool(before) and set(before) == {first}
