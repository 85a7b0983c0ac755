"""What the lines of a file tell of processes and ranks beside what happened to them."""

from __future__ import annotations

import msgspec


class ToldProcess(msgspec.Struct, array_like=True, frozen=True):
    """A process, and the rank that it is. Without a rank, it is the one whose log says so."""

    pid: int
    rank: int | None = None
    host: str | None = None
    place: int | None = None
    """Its number among the processes of its machine, where that is all that is told."""


class ToldPod(msgspec.Struct, array_like=True, frozen=True):
    """A pod or a stream of one container, as a carrier names it before its lines, and the rank that these tell."""

    name: str
    rank: int


class Told(msgspec.Struct, array_like=True, frozen=True):
    """What the lines of one file tell of processes."""

    processes: tuple[ToldProcess, ...] = ()
    world_size: int | None = None
    programs: tuple[str, ...] = ()
    """Other frameworks than torch that they speak of."""
    pods: tuple[ToldPod, ...] = ()
    rank: int | None = None
    """What the one process that wrote the file says of itself."""
