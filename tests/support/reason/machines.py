"""A stalled job on hosts with names."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import Witnesses

BODY: list[Step] = [Call(WORLD, "all_reduce", 64, "trainer.py:63")]


RANKS = range(4)


def stalled() -> Witnesses:
    """All members join the last call, and none finishes it."""
    job = Job({WORLD: list(RANKS)}, {rank: loop(BODY, 6) for rank in RANKS}, stalled=frozenset({(WORLD, 6)}))
    return Witnesses(case_of(job))


def on_hosts(per_host: int = 1) -> Witnesses:
    """NCCL's lines of setup: `per_host` ranks on each host, the first of each on the same bus."""
    witnesses = stalled()
    for rank in RANKS:
        bus = ["9d000", "1b000"][rank % per_host]
        witnesses.event("nccl_init", "fact", rank, shape="N1", host=f"node{rank // per_host}", bus=bus)
    return witnesses
