"""A rank that is calls behind or ahead on one group, as against another, in all that the rings kept.

Two groups of the same ranks: after the 236th call on the first, three ranks make the 60th on the second, and one makes
its 59th; it made its 58th where they made their 59th, and so on back to the oldest call that is kept. Nobody changed
the order of its calls: that rank has made one less on the second group before the rings begin.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations

import numpy as np
import polars as pl
from msgspec import Struct

from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.calls.call_table import CallTable
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.waits.graph import WaitEnd

from .divergence_point import DivergencePoint

#: One that fits may be chance.
_FEWEST = 2
_MOST_RANKS = 64
_MOST_CALLS = 5000


class _Lag(Struct, frozen=True):
    group: int
    """Where they are behind, or ahead."""
    against: int
    """The group by whose calls this is counted."""
    calls: int
    """How many more than the others they have made: negative, where these are fewer."""
    ranks: tuple[int, ...]
    others: tuple[int, ...]
    rounds: int
    """How many calls on the group show it, of the rank of which fewest do."""


@heuristic(
    "lag between groups", "who is as many calls behind in every kept round has not changed its order now"
)
def lag_between_groups(facts: WaitFacts, wait_end: WaitEnd) -> DivergencePoint | None:
    """Of the two groups that a circle waits in, the one on which one side has made more or fewer calls all along."""
    calls = [c for i in wait_end.pending if (c := facts.waits.pending[i]).slot is not None]
    groups = {call.group: call for call in calls}
    if wait_end.kind != "cycle" or len(groups) != 2 or len(wait_end.pending) != 2:
        return None
    shared = set.intersection(*({*facts.membership.members[group]} for group in groups))
    wrapped = facts.case.dumps_used.filter(pl.col("wrapped").fill_null(False))["rank"].to_list()
    # In rings that go back to the start every call is there: what was left out shows itself.
    if not 1 < len(shared) <= _MOST_RANKS or not shared <= {*wrapped}:
        return None
    ranks = sorted(shared)
    found = [lag for a, b in permutations(groups, 2) if (lag := _lag(facts.call_table, a, b, ranks))]
    if not found:
        return None
    lag = min(found, key=lambda each: (abs(each.calls), each.calls))
    call = groups[lag.group]
    behind, ahead = (lag.ranks, lag.others) if lag.calls < 0 else (lag.others, lag.ranks)
    if {*call.waiting} & {*behind} or not {*call.waiting} & {*ahead}:
        # Nobody waits for them there: it explains nothing.
        return None
    row = lookup.call_at(facts, call.waiting[0], call.group, call.slot or 0)
    return DivergencePoint(
        kind="skipped" if lag.calls < 0 else "extra",
        group=lag.group,
        slot=call.slot,
        culprits=lag.ranks if len(lag.ranks) < len(lag.others) else (),
        normal=lag.others,
        other=lag.ranks,
        expected=row if lag.calls < 0 else None,
        came=None if lag.calls < 0 else row,
        length=abs(lag.calls),
        confirmed=lag.rounds,
        exact=False,
        against=lag.against,
        either=any(abs(each.calls) == abs(lag.calls) for each in found if each is not lag),
    )


def _lag(table: CallTable, group: int, against: int, ranks: list[int]) -> _Lag | None:
    first, *others = (_Places.of(table.of_rank(rank), group, against) for rank in ranks)
    ahead: dict[int, list[int]] = defaultdict(list, {0: [ranks[0]]})
    rounds = []
    for rank, places in zip(ranks[1:], others, strict=True):
        told = first.compared(places)
        if told is None:
            return None
        ahead[told[0]].append(rank)
        rounds.append(told[1])
    if len(ahead) != 2:
        return None
    (one, few), (other, most) = sorted(ahead.items(), key=lambda way: (len(way[1]), way[0]))
    return _Lag(group, against, one - other, tuple(few), tuple(most), min(rounds))


class _Places(Struct, frozen=True):
    """One rank's calls on a group, by the call on the other group that it made last before each."""

    calls: np.ndarray
    """Call on the other group, which one since that, number, terms: a row each."""
    first: int
    last: int
    """Of the kept calls on the other group."""

    @classmethod
    def of(cls, made: pl.DataFrame, group: int, against: int) -> _Places:
        both = made.filter(pl.col("group").is_in([group, against]) & pl.col("slot").is_not_null())
        other = pl.col("group") == against
        rows = both.tail(_MOST_CALLS).with_columns(after=pl.when(other).then("slot").forward_fill())
        here = rows.filter(~other & pl.col("after").is_not_null())
        here = here.with_columns(nth=pl.int_range(pl.len()).over("after"))
        slots = rows.filter(other)["slot"]
        table = here.select(pl.col("after", "nth", "slot", "terms").cast(pl.Int64)).to_numpy()
        return cls(table, int(slots.min() or 0), int(slots.max() or 0))  # type: ignore[arg-type]

    def compared(self, other: _Places) -> tuple[int, int] | None:
        """How many calls the other is ahead, and how many show it; None where it is not the same all along."""
        low, high = max(self.first, other.first), min(self.last, other.last)
        ours, theirs = (t[(t[:, 0] >= low) & (t[:, 0] < high)] for t in (self.calls, other.calls))
        if len(ours) != len(theirs) or len(ours) < _FEWEST:
            return None
        if (ours[:, [0, 1, 3]] != theirs[:, [0, 1, 3]]).any():
            return None
        ahead = np.unique(theirs[:, 2] - ours[:, 2])
        return (int(ahead[0]), len(ours)) if len(ahead) == 1 else None
