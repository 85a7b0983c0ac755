"""Which exchange of the forward pass an all_to_all of a backward pass undoes, told by its sizes.

Nothing of the program stands above the `backward` of an autograd function: calls of several layers come by one path.
But what was sent comes back, so that a call there has the sizes of its layer's exchange, the other way round, and the
pass goes through the layers in one order. A rank whose graph lacks a layer is further than its peers with the same
number of calls: they are in one collective, and each undoes another exchange.

In: the all_to_alls of a group. Out: who is further than each time before, and by how many calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import Pending

_FURTHEST = 512
_MOST_CALLS = 100_000
_AUTOGRAD = "torch/autograd/function.py"
_BACKWARD = ("backward", "vjp")


class Further(NamedTuple):
    """Who undoes an earlier exchange of the forward pass than its peers do with the same call."""

    ranks: tuple[int, ...]
    left_out: int
    undoes: int
    """The call of the group that they undo, and below that which the others do."""
    due: int


class _Undoing(NamedTuple):
    rank: int
    slot: int
    nth: int
    """Of its backward pass."""
    last: int
    """The last exchange of the forward pass before it."""
    offsets: frozenset[int]
    """How far before the last those are that it may undo, by their sizes."""


@heuristic(
    "undone exchange",
    "an all_to_all of a backward pass undoes the exchange of the forward pass that has its sizes the other way round",
)
def further_in_backward(facts: Facts, group: int, slot: int) -> Further | None:
    """None where a member's call is not there, all may be undoing one exchange, or what is undone there was another one
    from time to time."""
    made = _undoings(facts, group, slot)
    here = [one for one in made if one.slot == slot]
    members = facts.membership.members[group]
    if {one.rank for one in here} != set(members) or len({(one.nth, one.last) for one in here}) != 1:
        return None
    if frozenset.intersection(*(one.offsets for one in here)):
        return None
    nth, last = here[0].nth, here[0].last
    usual = _usual(one for one in made if one.slot < last)
    due = usual.get(nth, frozenset())
    out = [one for one in here if not one.offsets & due]
    if not due or not out or len(out) == len(here):
        return None
    steps = {_later(usual, nth, one.offsets) for one in out}
    left_out = steps.pop()
    if steps or left_out is None:
        return None
    instead = usual[nth + left_out] & frozenset.intersection(*(one.offsets for one in out))
    if not instead or min(instead) <= max(due):
        return None
    return Further(tuple(sorted(one.rank for one in out)), left_out, last - min(instead), last - min(due))


def _later(usual: dict[int, frozenset[int]], nth: int, offsets: frozenset[int]) -> int | None:
    """By how many calls of the pass it is early."""
    return next((n - nth for n in sorted(usual) if n > nth and usual[n] & offsets), None)


def _usual(made: Iterable[_Undoing]) -> dict[int, frozenset[int]]:
    """Which call of a backward pass -> which exchange it undid each time, on all ranks, counted from the last."""
    offsets: dict[int, list[frozenset[int]]] = defaultdict(list)
    for one in made:
        offsets[one.nth].append(one.offsets)
    return {nth: frozenset.intersection(*each) for nth, each in offsets.items()}


def _undoings(facts: Facts, group: int, slot: int) -> list[_Undoing]:
    furthest = min(_FURTHEST, _MOST_CALLS // len(facts.membership.members[group]))
    calls = facts.call_table.of_group(group).filter(
        pl.col("slot").is_between(slot - furthest, slot) & pl.col("terms").is_in(_all_to_alls(facts))
    )
    inside = in_backward(facts.case, calls["stack"].drop_nulls().unique().to_list())
    if not set(calls.filter(pl.col("slot") == slot)["stack"].to_list()) & inside:
        return []
    found: list[_Undoing] = []
    forward: dict[int, list[tuple[int, object]]] = defaultdict(list)
    nth: dict[int, int] = defaultdict(int)
    whole: dict[int, bool] = {}
    rows = calls.join(facts.case.shapes, on="shape").sort("rank", "slot")
    for row in rows.iter_rows(named=True):
        rank = row["rank"]
        given = (row["in_sizes"], row["in_dtypes"])
        taken = (row["out_sizes"], row["out_dtypes"])
        # The pass that what is kept begins with may lack its first exchanges.
        whole.setdefault(rank, row["slot"] == 1)
        if row["stack"] not in inside:
            if nth[rank]:
                forward[rank], nth[rank], whole[rank] = [], 0, True
            forward[rank].append((row["slot"], (given, taken)))
            continue
        nth[rank] += 1
        if forward[rank] and whole[rank]:
            last = forward[rank][-1][0]
            offsets = frozenset(last - made for made, sizes in forward[rank] if sizes == (taken, given))
            found.append(_Undoing(rank, row["slot"], nth[rank], last, offsets))
    return found


def made_in_backward(facts: Facts, call: Pending) -> bool:
    """An all_to_all, and all who wait in it do so in a backward pass: by the frames of their records, or their stacks
    where dumps keep none."""
    if call.slot is None:
        return False
    made = facts.call_table.of_group(call.group).filter(pl.col("slot") == call.slot)
    if not made.height or set(made["terms"].to_list()) - set(_all_to_alls(facts)):
        return False
    recorded = dict(made.select("rank", "stack").iter_rows())
    seen = {_stack(facts, rank) if recorded.get(rank) is None else recorded[rank] for rank in call.waiting}
    return None not in seen and seen <= in_backward(facts.case, seen)


def _stack(facts: Facts, rank: int) -> int | None:
    stand = facts.hosts.get(rank)
    return stand.stack if stand is not None and not stand.died else None


def _all_to_alls(facts: Facts) -> list[int]:
    return [number for number, terms in enumerate(facts.call_table.terms) if terms.op == "all_to_all"]


def in_backward(case: Case, stacks: Iterable[int | None]) -> set[int]:
    """Those of the stacks that are of the backward pass of an autograd function."""
    wanted = case.stacks.filter(pl.col("stack").is_in(list(stacks)))
    among = wanted.select(pl.col("frames").explode().alias("frame")).unique()
    frames = {row["frame"]: row for row in case.frames.join(among, on="frame").iter_rows(named=True)}
    return {
        stack
        for stack, within in wanted.select("stack", "frames").iter_rows()
        if any(
            frames[inner]["function"].rpartition(".")[2] in _BACKWARD
            and frames[outer]["function"].rpartition(".")[2] == "apply"
            and frames[outer]["file"].replace("\\", "/").endswith(_AUTOGRAD)
            for inner, outer in pairwise(within)
        )
    }
