"""Process groups of a job, numbered and named as torch would."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod


@dataclass(frozen=True)
class Group:
    """`index` is ours; `name` and `desc` are torch's: names count all groups made by the job, on every rank."""

    index: int
    name: str
    desc: str
    ranks: tuple[int, ...]
    role: str

    @property
    def size(self) -> int:
        return len(self.ranks)


@dataclass
class Layout:
    """All groups, and which group plays a role ("tp", "dp") for a rank."""

    world_size: int
    groups: list[Group]
    gpus_per_node: int = 8
    _roles: dict[str, dict[int, Group]] = field(default_factory=dict)
    _inside: list[dict[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for group in self.groups:
            members = self._roles.setdefault(group.role, {})
            members.update(dict.fromkeys(group.ranks, group))
            self._inside.append({rank: i for i, rank in enumerate(group.ranks)})

    def group(self, role: str, rank: int) -> Group:
        return self._roles[role][rank]

    def inside(self, group: Group, rank: int) -> int:
        """Rank within the group."""
        return self._inside[group.index][rank]

    def groups_of(self, rank: int) -> list[Group]:
        """In order of creation: a group's place here is its `pg_id` in this process."""
        return [members[rank] for members in self._roles.values() if rank in members]

    def node(self, rank: int) -> int:
        return rank // self.gpus_per_node


def mesh(dims: Mapping[str, int]) -> Layout:
    """A device mesh, the last dimension varying fastest; one group per line along each dimension."""
    sizes = list(dims.values())
    world_size = prod(sizes)
    lines: list[tuple[str, tuple[int, ...]]] = []
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 2, -1, -1):
        strides[i] = strides[i + 1] * sizes[i + 1]
    for i, name in enumerate(dims):
        others = [range(size) if j != i else range(1) for j, size in enumerate(sizes)]
        for corner in itertools.product(*others):
            base = sum(c * s for c, s in zip(corner, strides, strict=True))
            lines.append((name, tuple(base + k * strides[i] for k in range(sizes[i]))))
    return named(world_size, lines, desc="mesh_{}")


def named(world_size: int, lines: Sequence[tuple[str, Sequence[int]]], desc: str = "undefined") -> Layout:
    """The default group and then the given ones, in order of creation."""
    groups = [Group(0, "0", "default_pg", tuple(range(world_size)), "world")]
    for i, (role, ranks) in enumerate(lines, 1):
        groups.append(Group(i, str(i), desc.format(role), tuple(ranks), role))
    return Layout(world_size, groups)
