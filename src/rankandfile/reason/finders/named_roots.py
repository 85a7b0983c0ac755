"""Of ranks that name different roots: who of them is out of line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankandfile.model.heuristics import heuristic


@heuristic(
    "each another for the root",
    "where all of a group wait for one another as the root, all are out of line, as in a circle",
    otherwise=(),
)
def each_for_another(members: Sequence[int], named: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """All members, if each takes another for the root, and each is taken for it by one: there is no right one among
    them, by which another would be wrong. `named`: by root, who takes it for that."""
    alone = all(len(ranks) == 1 and ranks[0] != of for of, ranks in named.items())
    return tuple(members) if alone and sorted(named) == sorted(members) else ()


def odd_about_root(named: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """The few that name another root than all the others, if these are more than one and more than they."""
    most = max(named.values(), key=len)
    odd = tuple(sorted(rank for ranks in named.values() if ranks is not most for rank in ranks))
    return odd if len(most) > max(1, len(odd)) else ()
