"""How many ranks a job has, and which of them share a host, from what it left behind: what only reads source code needs
no tables for it."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case

from .job import Job

_OF_MESH = "mesh_"


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
