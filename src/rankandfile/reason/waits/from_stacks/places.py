"""Where every rank stands in the program: the frames that lead there, outermost first, and who shares them.

A path ends with the frame that shows what the rank does. What lies further in is how a library waits, and differs by
chance.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import polars as pl
from msgspec import Struct

from rankandfile.reason.ranks.activity import (
    CodePlace,
    at,
    classify,
    is_library,
    is_native,
    places_of,
    short_function,
    way,
)
from rankandfile.reason.ranks.facts import RankFacts
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.ranks.threads import last_of_each_rank, telling

_PASSED = re.compile(
    r"(?:^|[/\\])(?:threading|runpy|c10d_logger|_contextlib|multiprocessing[/\\]\w+|concurrent[/\\]\w+[/\\]\w+)\.py$|^<"
)


class Step(NamedTuple):
    """One frame on the way: the same by whichever tool."""

    function: str
    at: str
    loop: int | None = None
    """First line of the outermost loop of the function that goes over the line; None: none, or nobody read it."""


Path: TypeAlias = tuple[Step, ...]


class Cohort(Struct, frozen=True):
    """Ranks that stand in the same place."""

    ranks: tuple[int, ...]
    path: Path
    stand: Stand
    """Of one of them."""
    places: tuple[CodePlace, ...] = ()
    """The frames of the path, as that one has them."""


def cohorts(facts: RankFacts, ranks: Mapping[int, Stand]) -> list[Cohort]:
    """The places of these ranks, those of most ranks first."""
    rows = telling(facts.case.looks, facts.case.stacks, facts.case.frames)
    last = last_of_each_rank(rows).filter(pl.col("rank").is_in(list(ranks)))
    mains = _mains(facts, last)
    wanted = {*last["stack"].to_list(), *mains.values()}
    known = {
        number: found
        for number, _, found in places_of(
            pl.Series("stack", sorted(wanted), dtype=pl.UInt32), facts.case.stacks, facts.case.frames
        )
    }
    paths: dict[tuple[int, int | None], Path] = {}
    ways: dict[Path, tuple[CodePlace, ...]] = {}
    alike: dict[tuple[Path, str], list[int]] = defaultdict(list)
    for rank, stack in last.select("rank", "stack").iter_rows():
        key = (stack, mains.get(rank))
        if key not in paths:
            outer = known.get(mains[rank], []) if rank in mains else []
            there = _there(facts, known.get(stack, []), outer)
            paths[key] = tuple(
                Step(short_function(p.function), at(p), facts.code.loops.get((p.file, p.line))) for p in there
            )
            ways.setdefault(paths[key], there)
        alike[paths[key], ranks[rank].activity].append(rank)
    found = [
        Cohort(tuple(sorted(those)), path, ranks[min(those)], ways[path])
        for (path, _), those in alike.items()
        if path
    ]
    return sorted(found, key=lambda cohort: (-len(cohort.ranks), cohort.ranks))


def _mains(facts: RankFacts, last: pl.DataFrame) -> dict[int, int]:
    """Of ranks whose autograd thread tells what they do: where the program's own thread started that."""
    there = last.filter(pl.col("role") == "autograd").select("rank", "file", "ordinal")
    main = facts.case.looks.filter((pl.col("role") == "main") & pl.col("stack").is_not_null())
    return dict(main.join(there, on=["rank", "file", "ordinal"]).select("rank", "stack").iter_rows())


def _there(facts: RankFacts, places: list[CodePlace], outer: list[CodePlace]) -> tuple[CodePlace, ...]:
    """The frames of the way, outermost first."""
    code = facts.code.lines.get((places[0].file, places[0].line)) if places else None
    doing = classify(places, code)
    there = [*way(places, doing.frame if doing else 0), *way(outer)]
    told = [place for place in there if not _PASSED.search(place.file)]
    return tuple(reversed(told or there))


def left_at(divergence: StackDivergence) -> CodePlace | None:
    """The line from which the odd ones went another way, in a function of the program that the others are in too."""
    if len(divergence.odd) != 1:
        return None
    odd = divergence.odd[0]
    for depth, (step, place) in enumerate(zip(odd.path, odd.places, strict=True)):
        others = {one.path[depth] if depth < len(one.path) else None for one in divergence.usual}
        if step in others:
            continue
        same = all(o is not None and (o.function, _file(o)) == (step.function, _file(step)) for o in others)
        return place if same and not (is_library(place) and not is_native(place)) else None
    return None


def _file(step: Step) -> str:
    return step.at.rpartition(":")[0]


class StackDivergence(NamedTuple):
    """Where the ways of the ranks part first, from the outermost frame inwards."""

    usual: tuple[Cohort, ...]
    """Where more than half of the ranks went; empty: no way was that of most."""
    odd: tuple[Cohort, ...]
    """The others; all of them, where no way was that of most."""


def stack_divergence(places: list[Cohort]) -> StackDivergence | None:
    """None where all stand in one place."""
    depth = 0
    while len(places) > 1:
        for key in (_loop_at, _step_at):
            ways: dict[object, list[Cohort]] = defaultdict(list)
            for cohort in places:
                ways[key(cohort.path, depth)].append(cohort)
            if len(ways) > 1:
                return _most(list(ways.values()))
        depth += 1
        if all(len(cohort.path) <= depth for cohort in places):
            return None
    return None


def _loop_at(path: Path, depth: int) -> object:
    """The frame, and the loop in it: who is in one round of it, and who in the next, goes the same way."""
    if depth >= len(path):
        return None
    step = path[depth]
    return (step.function, _file(step), step.loop) if step.loop is not None else step


def _step_at(path: Path, depth: int) -> object:
    return path[depth] if depth < len(path) else None


def _most(ways: list[list[Cohort]]) -> StackDivergence:
    ways = sorted(ways, key=lambda way: -sum(len(cohort.ranks) for cohort in way))
    usual, others = ways[0], [cohort for way in ways[1:] for cohort in way]
    if sum(len(c.ranks) for c in usual) > sum(len(c.ranks) for c in others):
        return StackDivergence(tuple(usual), tuple(others))
    return StackDivergence((), tuple(cohort for way in ways for cohort in way))
