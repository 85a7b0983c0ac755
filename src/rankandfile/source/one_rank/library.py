"""What torch, launchers and frameworks answer one rank that asks for its number, its role or its place in the mesh."""

from __future__ import annotations

import math

from .arithmetic import Plain, Values, each
from .job import Job

_D = "torch.distributed"
_MPI = "mpi4py.MPI.COMM_WORLD"
_RANK = {
    *(f"{_D}.get_rank", f"{_D}.distributed_c10d.get_rank", f"{_D}.device_mesh.DeviceMesh.get_rank"),
    *(f"{_MPI}.Get_rank", f"{_MPI}.rank", "horovod.torch.rank", "jax.process_index"),
}
_WORLD = {
    *(f"{_D}.get_world_size", f"{_D}.distributed_c10d.get_world_size"),
    *(f"{_MPI}.Get_size", f"{_MPI}.size", "horovod.torch.size", "jax.process_count"),
}
_LOCAL = {f"{_D}.get_node_local_rank"}
READY = {f"{_D}.is_initialized", f"{_D}.is_available", f"{_D}.distributed_c10d.is_initialized"}

OF_GROUP = {
    f"{_D}.get_global_rank": ("group_rank",),
    f"{_D}.get_group_rank": ("global_rank",),
    f"{_D}.distributed_c10d.get_global_rank": ("group_rank",),
    f"{_D}.distributed_c10d.get_group_rank": ("global_rank",),
}
"""What tells a rank's number in a group from the job's; a group is known as the ranks in it."""

#: Properties that mean one thing in every framework that has them.
_NUMBER = {"global_rank", "process_index"}
_LOCAL_NUMBER = {"local_process_index"}
_FIRST = {"is_global_zero", "is_main_process", "is_world_process_zero"}
_FIRST_LOCALLY = {"is_local_main_process", "is_local_process_zero"}
_SIZE = {"world_size", "num_processes"}


def asked(name: str, rank: int, job: Job) -> Values:
    """What a function or property of somebody else's returns, called without a group."""
    if name in _RANK or name.endswith("rank_zero_only.rank"):
        return frozenset({rank})
    if name in _WORLD:
        return size(job)
    if name in _LOCAL:
        return _known(job.local_rank(rank))
    return None


def on_line(name: str, members: tuple[int, ...], rank: int) -> Values:
    """What a mesh answers of one of its dimensions, along which these ranks lie."""
    answers: dict[str, Plain] = {
        "get_local_rank": members.index(rank),
        "size": len(members),
        "get_group": members,
    }
    return frozenset({answers[name]}) if name in answers else None


def in_group(name: str, group: Values, given: Values) -> Values:
    """The number in the job of who has this one in the group, or the other way round."""
    if group is None or given is None or len(group) != 1:
        return None
    (members,) = group
    if not isinstance(members, tuple):
        return None
    if name.endswith("get_global_rank"):
        return each(given, lambda number: members[number])  # type: ignore[index]
    return each(given, lambda number: members.index(number))


def role(name: str, rank: int, job: Job) -> Values:
    """A property of a trainer, an accelerator, a strategy; None for what is no role."""
    local = job.local_rank(rank)
    if name in _NUMBER:
        return frozenset({rank})
    if name in _FIRST:
        return frozenset({rank == 0})
    if name == "is_last_process":
        return None if job.world is None else frozenset({rank == job.world - 1})
    if name in _LOCAL_NUMBER:
        return _known(local)
    if name in _FIRST_LOCALLY:
        return None if local is None else frozenset({local == 0})
    return size(job) if name in _SIZE else None


def size(job: Job) -> Values:
    return _known(job.world)


def variable(name: object, rank: int, job: Job) -> Values:
    """A variable of the environment that launchers set."""
    local, many = job.local_rank(rank), job.local_world(rank)
    known = {"RANK": rank, "WORLD_SIZE": job.world, "LOCAL_RANK": local, "LOCAL_WORLD_SIZE": many}
    value = known.get(name) if isinstance(name, str) else None
    return None if value is None else frozenset({str(value)})


def coordinate(shape: Plain, rank: int, job: Job) -> tuple[int, ...] | None:
    """The place of the rank in a mesh of all ranks, which is filled row by row."""
    if not isinstance(shape, tuple) or not all(isinstance(n, int) and n > 0 for n in shape):
        return None
    sizes = [n for n in shape if isinstance(n, int)]
    if math.prod(sizes) != job.world:
        return None
    found: list[int] = []
    for size in reversed(sizes):
        rank, place = divmod(rank, size)
        found.append(place)
    return tuple(reversed(found))


def _known(value: int | None) -> Values:
    return None if value is None else frozenset({value})
