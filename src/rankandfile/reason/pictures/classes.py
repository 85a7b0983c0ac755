"""Ranks that wait alike: as fine a division of them as stays readable.

Two ranks are alike if they wait in the same kinds of calls, which lack ranks that are alike. Told apart in rounds, as
in the minimisation of automata; with too many classes, a round fewer is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence

from msgspec import Struct

_MOST_ROUNDS = 8


class Classes(Struct, frozen=True):
    of_rank: dict[int, int]
    ranks: dict[int, list[int]]
    """Class -> its ranks; those that nobody else is like and that matter first."""


def classes(
    calls: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    kinds: Sequence[str],
    role: Callable[[int], str],
    apart: frozenset[int],
    most: int,
) -> Classes:
    """Per call: who waits in it, whom it lacks, and what kind of call it is. Ranks in `apart` are like nobody.

    Ranks of different `role` are never alike; those whose role begins with culprit come first.
    """
    ranks = sorted({rank for call in calls for part in call for rank in part})
    calls_of: dict[int, list[int]] = defaultdict(list)
    for call, (members, _) in enumerate(calls):
        for rank in members:
            calls_of[rank].append(call)
    first: dict[int, Hashable] = {
        rank: (role(rank), rank if rank in apart else -1, bool(calls_of[rank])) for rank in ranks
    }
    rank_class = _number(first)
    best = rank_class
    for _ in range(_MOST_ROUNDS):
        call_class = [
            (kinds[call], frozenset(rank_class[rank] for rank in lacking))
            for call, (_, lacking) in enumerate(calls)
        ]
        numbers = _number(dict(enumerate(call_class)))
        finer = _number(
            {rank: (rank_class[rank], frozenset(numbers[call] for call in calls_of[rank])) for rank in ranks}
        )
        count = max(finer.values(), default=-1) + 1
        if count > most or count == max(rank_class.values(), default=-1) + 1:
            break
        rank_class = best = finer
    members_of: dict[int, list[int]] = defaultdict(list)
    for rank in ranks:
        members_of[best[rank]].append(rank)
    order = sorted(
        members_of, key=lambda c: (not role(members_of[c][0]).startswith("culprit"), -len(members_of[c]))
    )
    return Classes(best, {c: members_of[c] for c in order})


def _number(keys: Mapping[int, Hashable]) -> dict[int, int]:
    numbers: dict[Hashable, int] = {}
    return {item: numbers.setdefault(key, len(numbers)) for item, key in keys.items()}
