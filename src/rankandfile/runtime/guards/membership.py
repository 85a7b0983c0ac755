"""Which ranks a guard is about: the members of a torch process group, and the store that they share.

Guards talk through the store of the job, under keys of their own, by a connection of their own. They create no
process group: that would itself be a collective which every rank must reach, and it could be left half made. Nothing
of theirs is ever in the same queue as the job's collectives.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import weakref
from dataclasses import dataclass, field
from typing import Any

from rankandfile.runtime.guards.errors import StoreLost


@dataclass
class Members:
    """The members of a group, as this rank sees them."""

    title: str
    name: str
    """torch's name, which tells apart groups of the same members."""
    ranks: tuple[int, ...]
    me: int
    store: Any
    """The job's store, under the prefix of guards."""
    patience: float
    """Seconds that the job itself would wait for a collective."""
    ident: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    """How often each guard of the group was used by this rank."""
    previous: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Per thread, the keys of the guard before: nobody needs them once all have arrived at the next one."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        text = f"{self.name}:{','.join(map(str, self.ranks))}"
        self.ident = hashlib.blake2s(text.encode(), digest_size=6).hexdigest()

    @property
    def label(self) -> str:
        return f"{self.title} [{spelled(self.ranks)}]"

    def count(self, guard: str) -> int:
        """The number of this use of the guard, from 0."""
        with self.lock:
            number = self.counts.get(guard, 0)
            self.counts[guard] = number + 1
        return number


def spelled(ranks: tuple[int, ...] | list[int]) -> str:
    """`0-3,7`."""
    ordered = sorted(ranks)
    parts: list[str] = []
    start = 0
    for i in range(1, len(ordered) + 1):
        if i == len(ordered) or ordered[i] != ordered[i - 1] + 1:
            first, last = ordered[start], ordered[i - 1]
            parts.append(str(first) if first == last else f"{first}-{last}")
            start = i
    return ",".join(parts)


_RESTART = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")


class _Job:
    """What is known of the job's process groups, for as long as its default group lives."""

    def __init__(self, world: Any, store: Any, patience: float) -> None:
        # A strong reference would keep the group alive after its end, and with it the store and its port.
        self.world = weakref.ref(world, _forget)
        self.pid = os.getpid()
        self.store = store
        self.patience = patience
        self.groups: dict[str, Members | None] = {}


_job: _Job | None = None
_lock = threading.Lock()


def members(group: Any = None) -> Members | None:
    """The group's members; None where there is nobody to agree with.

    That is: torch is not imported, no process group exists (not yet, or no more), the group has one member, this
    process is not one of them, or it was forked off one of them (a worker of a data loader).
    """
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None:
        return None
    world = c10d.GroupMember.WORLD
    if world is None:
        return None
    job = _job
    if job is None or job.world() is not world:
        job = _joined(c10d, world)
    if job.pid != os.getpid():
        return None
    if group is None:
        group = world
    elif hasattr(group, "mesh_dim_names"):
        group = group.get_group()  # a device mesh of one dimension
    if group is c10d.GroupMember.NON_GROUP_MEMBER:
        return None
    name = group.group_name
    if name not in job.groups:
        job.groups[name] = _look_up(c10d, job, group)
    return job.groups[name]


def _forget(_dead: object) -> None:
    """The default group was destroyed. Its store must go too, or the port of a server stays taken."""
    global _job
    if _job is not None and _job.pid == os.getpid():
        _counts_before.clear()
        _counts_before.update({known.ident: known.counts for known in _job.groups.values() if known})
        _job = None


def _joined(c10d: Any, world: Any) -> _Job:
    global _job
    with _lock:
        if _job is not None and _job.world() is world:
            return _job
        store = c10d._get_default_store()
        patience = store.timeout.total_seconds()
        # Another thread may wait on torch's own connection, with its lock held.
        if hasattr(store, "clone"):
            try:
                store = store.clone()
            except RuntimeError as error:
                raise StoreLost(f"guards cannot reach the job's store: {str(error)[:200]}") from error
        prefix = "/".join(["raf-guards", *(os.environ.get(name, "") for name in _RESTART)])
        store = c10d.PrefixStore(prefix, store)
        job = _Job(world, store, patience)
        _carry_on(store, c10d.get_rank())
        _job = job
        return job


def _carry_on(store: Any, rank: int) -> None:
    """A store that outlives the default group still holds keys of the time before: count on, not anew."""
    mark = f"seen/{rank}/{os.getpid()}"
    if not store.check([mark]):
        _counts_before.clear()
    store.set(mark, "1")


_counts_before: dict[str, dict[str, int]] = {}


def _look_up(c10d: Any, job: _Job, group: Any) -> Members | None:
    ranks = tuple(sorted(c10d.get_process_group_ranks(group)))
    me = c10d.get_rank()
    if len(ranks) < 2 or me not in ranks:
        return None
    description = str(getattr(group, "group_desc", "") or "")
    named = description not in ("", "undefined", "default_pg")
    title = "world" if group is c10d.GroupMember.WORLD else description if named else group.group_name
    known = Members(title, group.group_name, ranks, me, job.store, job.patience)
    known.counts.update(_counts_before.get(known.ident, {}))
    return known
