"""Members of groups of which no list was recorded, from the places that their members give in their lines.

A line says both the writer's global rank and its place in the group: rank 5 is the second of its `mesh_tp`. Groups of
one description divide the ranks of a mesh at equal steps, so step and size follow from enough places. Every line must
agree with them, and if two answers fit, there is none, unless the mesh's other dimensions leave room for one only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.ranks.from_logs.accounts import Report


class Line(NamedTuple):
    group: str
    place: int
    rank: int


Members = Mapping[str, tuple[int, ...]]
"""By name of the group."""


class Grid(NamedTuple):
    """Groups of one dimension of a mesh over all ranks."""

    step: int
    size: int

    def beside(self, other: Grid) -> bool:
        """Whether both can be dimensions of one mesh: one runs wholly inside the other's steps."""
        return other.step % (self.step * self.size) == 0 or self.step % (other.step * other.size) == 0


@heuristic(
    "members by place", "the places that ranks give in their lines tell a group's members", otherwise={}
)
def members_by_place(reports: Iterable[Report], world: int) -> Members:
    """Group name -> its members, for the groups whose lines leave no choice."""
    families: dict[str, set[Line]] = defaultdict(set)
    for report in reports:
        if report.group_rank is not None and report.desc:
            families[report.desc].add(Line(report.group, report.group_rank, report.rank))
    grids = list(_grids(world))
    fitting = [_fitting(sorted(lines), grids) for lines in families.values()]
    # A group of all ranks, such as the default one, is no dimension.
    sure = [
        (grid, _numbers(members))
        for answers in fitting
        if len(answers) == 1
        for grid, members in answers.items()
        if grid.size < world
    ]
    out: dict[str, tuple[int, ...]] = {}
    for answers in fitting:
        left = [
            members
            for grid, members in answers.items()
            if len(answers) == 1 or all(_fit(grid, _numbers(members), *other) for other in sure)
        ]
        if len(left) == 1:
            out.update(left[0])
    return out


def _fitting(lines: list[Line], grids: list[Grid]) -> dict[Grid, Members]:
    placed = ((grid, _placed(lines, grid)) for grid in grids)
    return {grid: members for grid, members in placed if members is not None}


def _fit(grid: Grid, numbers: range, other: Grid, others: range) -> bool:
    """Both may be dimensions of one mesh, which numbers its groups from the dimension of the largest steps on."""
    if not grid.beside(other):
        return False
    if numbers and others and (numbers.stop <= others.start or others.stop <= numbers.start):
        return (numbers.start < others.start) == (grid.step > other.step)
    return True


def _numbers(members: Members) -> range:
    """From which to which number the groups are named; empty if by other names."""
    if not all(name.isascii() and name.isdigit() and len(name) < 10 for name in members):
        return range(0)
    numbers = [int(name) for name in members]
    return range(min(numbers), max(numbers) + 1)


def _grids(world: int) -> Iterable[Grid]:
    sizes = [size for size in range(2, world + 1) if world % size == 0]
    return (
        Grid(step, size)
        for size in sizes
        for step in range(1, world // size + 1)
        if world // size % step == 0
    )


def _placed(lines: list[Line], grid: Grid) -> Members | None:
    """The members of each group, if groups of that step and size are what all lines say."""
    step, size = grid
    first: dict[str, int] = {}
    for name, place, rank in lines:
        if place >= size or rank // step % size != place:
            return None
        if first.setdefault(name, rank - place * step) != rank - place * step:
            return None
    if len(set(first.values())) != len(first) or not _numbered_so(first, grid):
        return None
    return {name: tuple(range(start, start + step * size, step)) for name, start in first.items()}


def _numbered_so(first: dict[str, int], grid: Grid) -> bool:
    """Groups that are numbered follow each other as their first ranks do."""
    if not _numbers(dict.fromkeys(first, ())):
        return True
    span = grid.step * grid.size
    places = {int(name) - (start // span * grid.step + start % grid.step) for name, start in first.items()}
    return len(places) == 1
