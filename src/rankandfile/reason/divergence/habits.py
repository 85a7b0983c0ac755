"""The order in which a rank came to the calls of a circle, now and the time before."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.calls.order_across_groups import PlaceInOrder
from rankandfile.reason.calls.rounds import find_loop
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.waits.graph import WaitEnd

from .code_paths import relation
from .divergence_point import DivergencePoint

_MOST = 64
_MOST_STACKS = 256
_TIMES = 2


@heuristic(
    "habitual order",
    "in a circle, who came to its groups in another order than before is the culprit",
    otherwise=(),
)
def changed_their_order(facts: WaitFacts, wait_end: WaitEnd) -> tuple[int, ...]:
    """The ranks of the circle that came to its groups in another order than the time before; none, if all did.

    None either, if the order of one of them is not known: it may be the one that changed it for the others.
    """
    if set(wait_end.ranks) & set(absent_ranks(facts)):
        return ()
    places = {(c.group, c.slot) for i in wait_end.pending if (c := facts.waits.pending[i]).slot is not None}
    ranks = wait_end.ranks[:_MOST]
    changed = []
    for rank in ranks:
        mine = [(g, s) for g, s in places if rank in facts.membership.members[g]]
        if len(mine) < 2 or len({g for g, _ in mine}) < len(mine):
            continue
        now, before, earlier = (
            [_record(facts, rank, g, (s or 0) - ago) for g, s in mine] for ago in range(3)
        )
        if any(record is None for record in before) or _order(before) == _order(now):
            continue
        if None in earlier or _order(earlier) != _order(before):
            # Once is no habit; and groups that are used by turns are come to in no one order.
            return ()
        changed.append(rank)
    return tuple(changed) if len(changed) < len(ranks) else ()


@heuristic(
    "order of most",
    "who comes to two calls of a circle in the order that few have is out of line",
    otherwise=(),
)
def against_most(facts: WaitFacts, wait_end: WaitEnd) -> tuple[int, ...]:
    """The ranks of the circle that came to two of its calls in the order that few have, of all that came to either."""
    places = [
        PlaceInOrder(call.group, call.slot)
        for i in wait_end.pending[:_MOST]
        if (call := facts.waits.pending[i]).slot is not None
    ]
    few: set[int] = set()
    for one, two in combinations(places, 2):
        both = _of_family(facts, one.group) & _of_family(facts, two.group)
        issued = facts.order.issued(one).keys() | facts.order.issued(two).keys()
        before, after = facts.order.votes(one, two, frozenset(issued - both))
        first, second = (two, one) if before >= after else (one, two)
        if 0 < min(before, after) * _TIMES <= max(before, after):
            came, other = facts.order.issued(first), facts.order.issued(second)
            few |= {r for r in came if r in both and (r not in other or came[r] < other[r])}
    few &= set(wait_end.ranks)
    # Where each is against most in something, none of them is the odd one.
    return tuple(sorted(few)) if len(few) < len(wait_end.ranks) else ()


def _of_family(facts: WaitFacts, group: int) -> set[int]:
    families = facts.membership.families
    head = families.get(group, group)
    return {
        r for g, members in facts.membership.members.items() if families.get(g, g) == head for r in members
    }


def first_time(facts: WaitFacts, wait_end: WaitEnd) -> bool:
    """Whether two of the circle share both groups, of which one order must be the right one, and no round before shows
    which. Where each two share one group at most, no rank's order is wrong but with all the others'."""
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    if not all(call.slot is not None and call.slot <= 1 for call in calls):
        return False
    return _share_two_groups(facts, wait_end)


def as_many_kept_it(facts: WaitFacts, wait_end: WaitEnd, changed: tuple[int, ...]) -> bool:
    """Whether half of the circle or more changed its order, and no two of it share two groups: each order is wrong with
    the others' only, and as many went one way as the other."""
    of_circle = set(changed) & set(wait_end.ranks)
    return 2 * len(of_circle) >= len(wait_end.ranks) and not _share_two_groups(facts, wait_end)


def _share_two_groups(facts: WaitFacts, wait_end: WaitEnd) -> bool:
    groups = {facts.waits.pending[i].group for i in wait_end.pending}
    members = [{*facts.membership.members[group]} & {*wait_end.ranks} for group in groups]
    return any(len(one & two) > 1 for one, two in combinations(members, 2))


def _record(facts: WaitFacts, rank: int, group: int, slot: int) -> int | None:
    row = lookup.call_at(facts, rank, group, slot)
    return None if row is None else int(row["record"])


def _order(records: list[int | None]) -> list[int]:
    """The calls by when they were made; one that was not made comes last."""
    return sorted(range(len(records)), key=lambda i: (records[i] is None, records[i] or 0, i))


def goes_without(facts: WaitFacts, wait_end: WaitEnd) -> bool:
    """Whether ranks of the circle made its calls in no one order, but one of them more often at times than the other.

    Then that a rank has not come to a call does not say that it comes to it later: it may go without it this time.
    """
    calls = [c for i in wait_end.pending if (c := facts.waits.pending[i]).slot is not None]
    if not any(call.lacking for call in calls):
        # All have come to all of them, and in which order shows.
        return False
    ways = {c.group: row for c in calls if (row := lookup.call_at(facts, c.waiting[0], c.group, c.slot or 0))}
    for rank in wait_end.ranks[:_MOST]:
        made = facts.call_table.of_rank(rank)
        mine = [group for group in ways if rank in facts.membership.members[group]]
        for one in mine:
            for other in mine[mine.index(one) + 1 :]:
                if not _alternate(made, ways[one], ways[other]):
                    return True
    return False


def goes_without_several(facts: WaitFacts, found: DivergencePoint) -> bool:
    """Whether the call that came instead is due only after several more of the one that is missing: by the rank's
    own round before, and by its like that made all of them. One call can be made late; rounds of it cannot."""
    due, came = found.expected, found.came
    if due is None or came is None or due["path"] is None or due["slot"] is None or came["slot"] is None:
        return False
    if not all(_begun(facts.call_table.of_rank(rank), due, came) for rank in found.culprits):
        # Another order may put the one before all of the other's: only a row that breaks off is left out.
        return False
    one, two = (PlaceInOrder(row["group"], row["slot"]) for row in (due, came))
    first, last = facts.order.issued(one), facts.order.issued(two)
    gaps = [
        made.filter(pl.col("record").is_between(first[rank], last[rank]) & (pl.col("path") == due["path"]))
        for rank in sorted((first.keys() & last.keys()) - {*found.culprits})[:_MOST]
        for made in (facts.call_table.of_rank(rank),)
    ]
    if any(gap.height < 2 for gap in gaps):
        return False
    return all(_fewer_than_before(facts.call_table.of_rank(rank), due, came) for rank in found.culprits)


def gone_by(facts: WaitFacts, found: DivergencePoint) -> bool:
    """Whether who came to the one call has gone by the missing one, and does not come to it later.

    Both are made by ways of its own earlier rounds, in one function, and the missing one is at the earlier line.
    """
    due, came = found.expected, found.came
    if found.how != "after" or due is None or came is None or due["path"] is None or came["path"] is None:
        return False
    for rank in found.culprits[:_MOST]:
        past = facts.call_table.of_rank(rank).filter(pl.col("record") < came["record"])
        ways = past.filter(pl.col("path").is_in([due["path"], came["path"]]))["path"].to_list()
        if ways.count(due["path"]) < _TIMES or ways.count(came["path"]) < _TIMES:
            return False
        stacks = list(dict.fromkeys(past["stack"].drop_nulls().reverse().head(_MOST_STACKS)))
        if relation(facts.case, stacks, due["stack"], came["stack"]) != "after":
            return False
    return True


def _begun(made: pl.DataFrame, due: Row, came: Row) -> bool:
    """Whether it made some of these calls since it last came to the other."""
    ways = made.filter(pl.col("path").is_in([due["path"], came["path"]]))["path"].to_list()
    return len(ways) > 1 and ways[-1] == came["path"] and ways[-2] == due["path"]


def _fewer_than_before(made: pl.DataFrame, due: Row, came: Row) -> bool:
    """Whether two or more are missing, as against the round before the last."""
    ends = made.filter(pl.col("path") == came["path"])["record"].to_list()
    if came["path"] == due["path"] or len(ends) < 2:
        return False
    like = made.filter(pl.col("path") == due["path"])["record"]
    begin = ends[-3] if len(ends) > 2 else -1
    before, now = (
        like.is_between(start, stop).sum() for start, stop in ((begin, ends[-2]), (ends[-2], ends[-1]))
    )
    return int(before) - int(now) > 1


def _alternate(made: pl.DataFrame, one: Row, other: Row) -> bool:
    """Whether the calls of these two ways come round in one order, as far as the past shows."""
    column = "path" if one["path"] is not None and other["path"] is not None else "terms"
    like = [(pl.col("group") == row["group"]) & (pl.col(column) == row[column]) for row in (one, other)]
    which = made.select(pl.when(like[0]).then(1).when(like[1]).then(2).alias("which"))["which"].drop_nulls()
    letters = which.to_numpy().astype(np.uint64)
    past = letters[:-1]
    if min((past == 1).sum(), (past == 2).sum()) < _TIMES:
        return True
    loop = find_loop(past)
    return loop is not None and len(set(past[loop.start : loop.start + loop.period].tolist())) > 1
