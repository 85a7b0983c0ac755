"""Which meeting place a job's nodes have: what the person names, or what the ranks were told of their store."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from rankandfile.capture.meet.job_store import JobStore
from rankandfile.capture.meet.shared_folder import SharedFolder


class RedisUrl(str):
    """redis://, rediss:// or unix://, with a password or without."""


#: A shared folder, a Redis, the job's own store, or nowhere.
Meeting = Path | RedisUrl | Literal["store"] | None

#: Two jobs that use one folder at the same time differ in one of these; the nodes of one job in none.
_SAME_ON_ALL = (
    "MASTER_ADDR",
    "MASTER_PORT",
    "WORLD_SIZE",
    "TORCHELASTIC_RUN_ID",
    "SLURM_JOB_ID",
    "PMIX_NAMESPACE",
)


def place(wanted: Meeting, told: Mapping[str, str]) -> Callable[[], MeetingPlace] | None:
    """How to get there, with what a rank was started with; None if the job has one node, or no place."""
    if not _several_nodes(told):
        return None
    key = "\0".join(told.get(name, "") for name in _SAME_ON_ALL)
    job = f"job-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    if isinstance(wanted, Path):
        folder = wanted / job
        return lambda: SharedFolder(folder)
    if isinstance(wanted, RedisUrl):
        return lambda: _in_redis(wanted, job)
    host, port = told.get("MASTER_ADDR", ""), told.get("MASTER_PORT", "")
    if wanted is None or not host or not port.isdigit() or importlib.util.find_spec("torch") is None:
        return None
    return lambda: JobStore(host, int(port))


def _in_redis(url: str, job: str) -> MeetingPlace:
    from rankandfile.capture.meet.redis_place import RedisPlace

    return RedisPlace(url, job)


def _several_nodes(told: Mapping[str, str]) -> bool:
    """By torchrun, or by another launcher that counts ranks and those of a node."""
    for world, local in (
        ("WORLD_SIZE", "LOCAL_WORLD_SIZE"),
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
        ("PMI_SIZE", "MPI_LOCALNRANKS"),
    ):
        if told.get(world, "").isdigit() and told.get(local, "").isdigit():
            return int(told[world]) > int(told[local])
    nodes = told.get("SLURM_NNODES", "")
    return nodes.isdigit() and int(nodes) > 1


class MeetingPlace(Protocol):
    """Names and bytes. Each watcher writes under a name of its own; all may read everything.

    Every method raises `OSError` where the place is gone, and answers within seconds.
    """

    def enrol(self, member: str) -> None:
        """From now on `members` has it."""

    def members(self) -> list[str]:
        """Everybody who has enrolled, those that an earlier attempt has left included."""

    def put(self, name: str, data: bytes) -> None:
        """Set, or replace as a whole. A name is `MEMBER/word`, or a word that belongs to all."""

    def get(self, name: str) -> bytes | None:
        """What was put last."""

    def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        """The same of each of these."""

    def remove(self, member: str) -> None:
        """Everything of this member."""
