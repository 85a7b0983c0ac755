"""After a vote that all should have cast alike: which ranks cast it differently, and what it was."""

from __future__ import annotations

import time
from collections import defaultdict

from rankandfile.runtime.guards.errors import Disagreement, GuardError
from rankandfile.runtime.guards.guard import Guard, heard
from rankandfile.runtime.guards.membership import spelled

#: The outcome that makes every rank say what it voted for.
DIFFER = "differ"

#: All ranks have just arrived, so what they brought is there in no time, or never.
_PATIENCE_S = 20.0
_PAUSE_S = 0.002
_GROUPS_TOLD = 8


def explain(guard: Guard, mine: str) -> None:
    """Tell the others this rank's value, learn theirs, and raise the `Disagreement`, the same on all ranks."""
    members = guard.members
    with guard.arrived():
        members.store.set(guard.key(f"value/{members.me}"), mine)
        until = time.monotonic() + _PATIENCE_S
        values = {rank: _value(guard, rank, until) for rank in members.ranks}
        heard(members, guard.key("heard"), len(members.ranks))
    guard.leave(*(guard.key(f"value/{rank}") for rank in members.ranks))
    raise disagreement(guard, values)


def _value(guard: Guard, rank: int, until: float) -> str:
    store, key = guard.members.store, guard.key(f"value/{rank}")
    while not store.check([key]):
        if time.monotonic() > until:
            return "(did not say)"
        time.sleep(_PAUSE_S)
    return str(store.get(key).decode("utf-8", "replace"))


def disagreement(guard: Guard, values: dict[int, str]) -> GuardError:
    """Which ranks are odd: those that are not of one mind with more than half."""
    by_value: dict[str, list[int]] = defaultdict(list)
    for rank, value in values.items():
        by_value[value].append(rank)
    ordered = sorted(by_value.items(), key=lambda item: (len(item[1]), item[1]))
    majority = len(ordered[-1][1]) * 2 > len(values)
    odd = sorted(rank for _, ranks in (ordered[:-1] if majority else ordered) for rank in ranks)
    most = len(ordered) - 1 if majority else None
    told = [f"{_who(ranks, values, i == most)} {value}" for i, (value, ranks) in enumerate(ordered)]
    if len(told) > _GROUPS_TOLD:
        told[_GROUPS_TOLD - 1 : -1] = [f"{len(told) - _GROUPS_TOLD} more values"]
    message = f"{guard.title}: the ranks differ: {'; '.join(told)}"
    return Disagreement(message, guard.facts(odd=tuple(odd), values=values))


def _who(ranks: list[int], values: dict[int, str], rest: bool) -> str:
    if rest and len(values) > 2:
        return f"the other {len(ranks)} have"
    return f"rank {ranks[0]} has" if len(ranks) == 1 else f"ranks {spelled(ranks)} have"
