"""What is known of a job before its source is read: how many ranks it has, and which of them share a host."""

from __future__ import annotations

from msgspec import Struct


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
