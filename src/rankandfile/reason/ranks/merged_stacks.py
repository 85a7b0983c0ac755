"""The stacks of all ranks as one tree, from the outermost frame inwards, each frame labelled with its ranks.

Ranks are hashed into cohorts of equal stacks first: 16k ranks that hang in three places cost three stacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import polars as pl
from msgspec import Struct, field

from rankandfile.model.ranks import format_ranks

from .activity import (
    CodePlace,
    at,
    classify,
    is_library,
    is_native,
    places_of,
    short_function,
    way,
)

Key = tuple[str, str]


class StackCohort(NamedTuple):
    """Ranks that stand in the same place."""

    ranks: tuple[int, ...]
    stack: int
    """A row of `stacks`, as one of them has it."""
    places: tuple[CodePlace, ...]
    """Python frames, innermost first."""
    words: str

    def __str__(self) -> str:
        return f"{format_ranks(self.ranks)} {self.words}"


class Node(Struct):
    """A frame, and who is in it."""

    place: CodePlace
    ranks: list[int] = field(default_factory=list)
    children: dict[Key, Node] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return format_ranks(self.ranks)


class Merged(NamedTuple):
    cohorts: tuple[StackCohort, ...]
    """Largest first."""
    roots: tuple[Node, ...]

    def __str__(self) -> str:
        return "; ".join(str(cohort) for cohort in self.cohorts)

    def lines(self) -> Iterator[tuple[int, str, CodePlace]]:
        """Depth, ranks as text and frame, in the order in which a tree is printed."""
        waiting = [(0, root) for root in reversed(self.roots)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node.label, node.place
            waiting.extend((depth + 1, child) for child in reversed(_by_size(node.children.values())))


def merge(rows: pl.DataFrame, stacks: pl.DataFrame, frames: pl.DataFrame) -> Merged:
    """The tree of these rows: one per rank, with columns `rank` and `stack` (see `threads.last_of_each_rank`)."""
    cohorts = cohorts_of(rows, stacks, frames)
    roots: dict[Key, Node] = {}
    for cohort in cohorts:
        level = roots
        for place in reversed(cohort.places):
            node = level.setdefault(_key(place), Node(place))
            node.ranks.extend(cohort.ranks)
            level = node.children
    for root in roots.values():
        _sort(root)
    return Merged(tuple(cohorts), tuple(_by_size(roots.values())))


def cohorts_of(rows: pl.DataFrame, stacks: pl.DataFrame, frames: pl.DataFrame) -> list[StackCohort]:
    known = rows.filter(pl.col("rank").is_not_null() & pl.col("stack").is_not_null())
    ranks_of = known.group_by("stack").agg(pl.col("rank").unique().sort())
    members = dict(ranks_of.iter_rows())
    alike: dict[tuple[Key, ...], tuple[int, tuple[CodePlace, ...], list[CodePlace], set[int]]] = {}
    for stack, _, places in places_of(ranks_of["stack"].sort(), stacks, frames):
        own = tuple(way(places)) or tuple(places)
        key = tuple(_key(place) for place in own)
        alike.setdefault(key, (stack, own, places, set()))[3].update(members[stack])
    cohorts = []
    for stack, own, places, ranks in alike.values():
        # Native frames may tell what the Python ones do not.
        cohorts.append(StackCohort(tuple(sorted(ranks)), stack, own, path_words(places)))
    return sorted(cohorts, key=lambda cohort: (-len(cohort.ranks), cohort.ranks))


def path_words(places: Sequence[CodePlace], most: int = 2) -> str:
    """`in all_reduce ← average, grads.py:10 ← step ← train`: what it does, and the program's way there."""
    doing = classify(places)
    if doing is None:
        return "without a frame"
    outer = [
        short_function(place.function)
        for place in way(places, doing.site + 1)
        if (is_native(place) or not is_library(place)) and place.function != "<module>"
    ]
    return " ← ".join([doing.phrase, *outer[:most]])


def _key(place: CodePlace) -> Key:
    return short_function(place.function), at(place)


def _sort(root: Node) -> None:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.ranks.sort()
        waiting.extend(node.children.values())


def _by_size(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (-len(node.ranks), node.ranks[0]))
