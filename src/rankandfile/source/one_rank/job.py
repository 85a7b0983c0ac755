"""What is known of a job before its source is read: how many ranks it has, and which of them share a host."""

from __future__ import annotations

import polars as pl
from msgspec import Struct

from rankandfile.model.case import Case

_OF_MESH = "mesh_"


class Job(Struct, frozen=True, kw_only=True):
    world: int | None
    """None: nothing tells how many ranks the job has."""

    hosts: tuple[str, ...] = ()
    """The host of every rank; empty where not all are known."""

    lines: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = ()
    """Of each dimension of a device mesh, by its name, the groups that lie along it."""

    def line(self, dimension: object, rank: int) -> tuple[int, ...] | None:
        """The group along the dimension that the rank is in; None: it is not known."""
        found = [
            group for name, groups in self.lines if name == dimension for group in groups if rank in group
        ]
        return found[0] if len(found) == 1 else None

    def local_rank(self, rank: int) -> int | None:
        """Launchers count ranks host by host, so that the first rank is the first of its host whatever is known."""
        if rank == 0:
            return 0
        if not self.hosts:
            return None
        mine = [other for other, host in enumerate(self.hosts) if host == self.hosts[rank]]
        return rank - mine[0] if mine == list(range(mine[0], mine[-1] + 1)) else None

    def local_world(self, rank: int) -> int | None:
        return self.hosts.count(self.hosts[rank]) if self.hosts else None


def job_of(case: Case) -> Job | None:
    """None where the size of the job is not known."""
    if not case.world_size:
        return None
    said = case.events.filter(pl.col("kind").cast(pl.String) == "rank_on_host")
    told = [table.select("rank", "host").drop_nulls() for table in (case.exits, case.dumps_used, said)]
    by_rank = {rank: host for table in told for rank, host in table.iter_rows()}
    every = [by_rank.get(rank) for rank in range(case.world_size)]
    hosts = tuple(host for host in every if host is not None)
    return Job(
        world=case.world_size,
        hosts=hosts if len(hosts) == case.world_size else (),
        lines=_lines(case, case.world_size),
    )


def _lines(case: Case, world: int) -> tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]:
    """What torch calls the groups of a mesh: by the name of the dimension. Not all members of a group may be known; but
    where groups that do not overlap hold all ranks of the job, no more can be in any."""
    found: dict[str, set[tuple[int, ...]]] = {}
    for desc, members in case.groups.select("desc", "members").iter_rows():
        if desc and desc.startswith(_OF_MESH) and members:
            found.setdefault(desc.removeprefix(_OF_MESH), set()).add(tuple(sorted(members)))
    return tuple(
        (name, tuple(sorted(groups)))
        for name, groups in sorted(found.items())
        if sorted(rank for group in groups for rank in group) == [*range(world)]
    )
