"""Jobs as their watchers tell of them: reports with the numbers that real ranks would have."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from rankandfile.model.digest import (
    Digest,
    Finding,
    Frame,
    Group,
    Job,
    Path,
    Report,
    Side,
    Standing,
)

STEP = Path(
    id=11,
    frames=(
        Frame("train/step.py", 88, "backward"),
        Frame("train/loop.py", 41, "train_step"),
        Frame("train.py", 19, "main"),
    ),
)
SAVE = Path(
    id=12, frames=(Frame("train/checkpoint.py", 57, "save"), Frame("train/loop.py", 63, "maybe_save"))
)


@dataclass
class Ranks:
    """A job of `nodes` of `per_node` ranks, in a group of all and in one of each node, which makes `pace` collectives
    a second in either."""

    job: str
    nodes: int = 1
    per_node: int = 8
    pace: float = 20.0
    began: float = field(default_factory=time.time)
    late: Mapping[int, float] = field(default_factory=dict)
    """Rank -> seconds by which it comes later than the others to every collective."""
    stops: Mapping[int, float] = field(default_factory=dict)
    """Rank -> when it makes its last call, in seconds after the beginning: the others then wait for it."""
    gone: frozenset[int] = frozenset()
    title: str = ""

    @property
    def world(self) -> int:
        return self.nodes * self.per_node

    def report(self, node: int, now: float, findings: tuple[Finding, ...] = (), words: bool = True) -> Report:
        ranks = range(node * self.per_node, (node + 1) * self.per_node)
        groups = (self._all(), self._node(node)) if words else ()
        return Report(
            job=Job(id=self.job, name=self.title or f"{self.job}.py", world=self.world, started=self.began),
            node=f"node{node:03d}", time=now, digests=tuple(self._digest(rank, now) for rank in ranks),
            groups=groups, paths=(STEP, SAVE) if words else (), findings=findings,
        )  # fmt: skip

    def _all(self) -> Group:
        members = f"0-{self.world - 1}"
        return Group(
            id="world", name="default_pg", description="data_parallel", size=self.world, members=members
        )

    def _node(self, node: int) -> Group:
        first = node * self.per_node
        members = f"{first}-{first + self.per_node - 1}"
        return Group(
            id=f"tp{node}",
            name=f"tp{node}",
            description="tensor_parallel",
            size=self.per_node,
            members=members,
        )

    def _digest(self, rank: int, now: float) -> Digest:
        node = rank // self.per_node
        peers = range(node * self.per_node, (node + 1) * self.per_node)
        standings = (
            self._standing("world", rank, range(self.world), now),
            self._standing(f"tp{node}", rank, peers, now),
        )
        moved = min(now, self.began + min(self.stops.values(), default=now - self.began))
        return Digest(
            rank=rank, host=f"host{node:03d}", time=now,
            state="gone" if rank in self.gone else "waits" if standings[0].open_s is not None else "runs",
            step=standings[0].last // 10, phase="backward", calls=2 * standings[0].last,
            flight=sum(one.open_s is not None for one in standings), since=moved, groups=standings,
        )  # fmt: skip

    def _standing(self, group: str, rank: int, members: range, now: float) -> Standing:
        ran = max(0.0, now - self.began)
        # Where one stops, all stop: who is in no group with it waits in one with somebody who is.
        ends = min(self.stops.values(), default=None)
        # The n-th collective begins at n / pace, on late ranks by so much later, and ends when the last has come.
        end = int(min(ran, ends) * self.pace) if ends is not None else None
        begun = int(max(0.0, ran - self.late.get(rank, 0.0)) * self.pace)
        slowest = max((self.late.get(one, 0.0) for one in members), default=0.0)
        done = int(max(0.0, ran - slowest) * self.pace)
        if end is not None:
            done = min(done, end)
            begun = min(begun, end + (rank not in self.stops and any(one in self.stops for one in members)))
        # Nobody begins the next before the last one is over.
        last = min(begun, done + 1)
        open_s = None
        if last > done:
            open_s = round(max(0.0, ran - (done + 1) / self.pace - self.late.get(rank, 0.0)), 3)
        return Standing(
            group=group, last=last, done=min(done, last), hash=last * 7919, open_s=open_s,
            op="all_reduce SUM Float [1048576]", path=STEP.id,
        )  # fmt: skip


def desync(job: str, since: float, found: float) -> Finding:
    return Finding(
        id=f"{job}-desync-1", kind="desync", certainty="certain", since=since, time=found, group="world", sequence=421,
        words="rank 3 saves a checkpoint where the others reduce gradients",
        ranks="3", action="would stop the job",
        sides=(
            Side(ranks="3", call="broadcast Float [4096]", path=SAVE.frames),
            Side(ranks="0-2,4-7", call="all_reduce SUM Float [1048576]", path=STEP.frames),
        ),
    )  # fmt: skip
