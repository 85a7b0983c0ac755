"""Which ranks the program puts into its groups: by the names that dumps and logs have for them.

Neither gloo's dumps nor a watchdog's lines list the members of a group, and a member that never came there is then
missing: exactly the one that matters. Where the source works the lists out from the size of the job alone, they are
known: each `new_group(ranks, group_desc=...)` is gone through as the program makes it, round by round.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from itertools import product
from math import prod
from typing import TypeAlias

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.syntax import argument
from rankandfile.source.lines.found_line import Search
from rankandfile.source.one_rank.arithmetic import Values, alone
from rankandfile.source.one_rank.job import Job
from rankandfile.source.one_rank.rounds import NotKnown, times
from rankandfile.source.one_rank.values import OneRank

Lists: TypeAlias = "frozenset[tuple[int, ...]]"
_MOST_STEPS = 40_000


@heuristic(
    "laid out in the source",
    "which ranks are in a group follows from the lists that the source makes",
    otherwise={},
)
def laid_out(search: Search, job: Job) -> dict[str, Lists]:
    """Description -> the lists of ranks of the groups that bear it; only what first and last rank agree on."""
    index = search.objects.index
    if not (index.calls("new_group") or index.calls("init_device_mesh")) or not job.world:
        return {}
    first, last = (
        _of_rank(OneRank(search.program, rank, job, search.objects, _MOST_STEPS), job.world)
        for rank in (0, job.world - 1)
    )
    return {desc: lists for desc, lists in first.items() if last.get(desc) == lists}


def _of_rank(one: OneRank, world: int) -> dict[str, Lists]:
    found: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    unknown: set[str] = set()
    for site in one.index.calls("new_group"):
        _made(one, site, world, found, unknown)
    for site in one.index.calls("init_device_mesh"):
        _meshed(one, site, world, found, unknown)
    return {desc: frozenset(lists) for desc, lists in found.items() if desc not in unknown}


def _made(
    one: OneRank, site: Site, world: int, found: dict[str, set[tuple[int, ...]]], unknown: set[str]
) -> None:
    ranks, named = argument(site.call, 0, "ranks"), argument(site.call, 5, "group_desc")
    if named is None:
        return
    one.ask_anew()
    try:
        for frame in times(one, site.call, site.function):
            desc = alone([one.value(named, frame)])
            if desc is None:
                raise NotKnown
            name = str(desc[0])
            lists = None if ranks is None else one.value(ranks, frame)
            listed = (
                tuple(range(world)) if ranks is None or lists == frozenset({None}) else _list(lists, world)
            )
            if listed is None:
                unknown.add(name)
            else:
                found[name].add(listed)
    except NotKnown:
        # Which it makes is not known: of none that may be one of them are there all.
        unknown |= {str(named.value)} if isinstance(named, ast.Constant) else set(found)


def _list(values: Values, world: int) -> tuple[int, ...] | None:
    match alone([values]):
        case (tuple() as listed,):
            ranks = sorted(r for r in listed if type(r) is int and 0 <= r < world)
            return tuple(ranks) if ranks and len({*ranks}) == len(listed) else None
    return None


def _meshed(
    one: OneRank, site: Site, world: int, found: dict[str, set[tuple[int, ...]]], unknown: set[str]
) -> None:
    """The groups along each dimension of a mesh of all ranks, which torch names after it."""
    shaped, named = argument(site.call, 1, "mesh_shape"), argument(site.call, 2, "mesh_dim_names")
    one.ask_anew()
    try:
        for frame in times(one, site.call, site.function):
            given = (None if e is None else one.value(e, frame) for e in (shaped, named))
            sizes, words = alone(given) or (None, None)
            if not (isinstance(sizes, tuple) and isinstance(words, tuple) and len(sizes) == len(words)):
                continue
            if not all(type(n) is int and n > 0 for n in sizes) or prod(sizes) != world:  # type: ignore[arg-type]
                continue
            for name, lists in _along(sizes, words).items():  # type: ignore[arg-type]
                found[f"mesh_{name}"] |= lists
    except NotKnown:
        unknown |= {name for name in found if name.startswith("mesh_")}


def _along(sizes: tuple[int, ...], names: tuple[str, ...]) -> dict[str, set[tuple[int, ...]]]:
    steps = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    found: dict[str, set[tuple[int, ...]]] = {}
    for axis, name in enumerate(names):
        others = [range(size) if other != axis else range(1) for other, size in enumerate(sizes)]
        starts = (sum(p * s for p, s in zip(place, steps, strict=True)) for place in product(*others))
        found[name] = {tuple(start + n * steps[axis] for n in range(sizes[axis])) for start in starts}
    return found
