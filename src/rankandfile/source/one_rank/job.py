"""What is known of a job before its source is read: how many ranks it has, and which of them share a host."""

from __future__ import annotations

import polars as pl
from msgspec import Struct

from rankandfile.model.case import Case


class Job(Struct, frozen=True, kw_only=True):
    world: int
    hosts: tuple[str, ...] = ()
    """The host of every rank; empty where not all are known."""

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
    return Job(world=case.world_size, hosts=hosts if len(hosts) == case.world_size else ())
